// Package examples is a module of its own, so that what the examples require
// stays out of package maxprocs, which requires nothing:
//
//   - prometheus: a server of the metrics of maxprocs/prometheus;
//   - semaphore: a semaphore that has as many slots as threads can run, and goes
//     on to have them when the limit changes;
//   - beside: start-up beside go.uber.org/automaxprocs, as a benchmark.
package examples
