// Package groups makes control groups of the running kernel for tests, v1 and v2, on
// Linux. It skips a test where the rights or the controllers that it needs are missing.
package groups
