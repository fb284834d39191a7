// Package docker tests whole runs on Docker: the built programs, a daemon of the
// test's own, real containers and traffic, and what is left behind. What the
// platform alone does is tested in internal/platform/docker.
package docker
