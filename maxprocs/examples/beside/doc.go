// Package beside measures maxprocs beside go.uber.org/automaxprocs, on Linux.
package beside
