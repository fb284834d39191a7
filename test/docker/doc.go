// Package docker tests whole runs on Docker: the built programs, a daemon of the test,
// real containers and traffic, and that nothing is left. internal/platform/docker tests
// the platform alone.
package docker
