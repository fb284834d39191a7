// The service's own figures, beside those that prom-client collects itself.
// They start with the handler, so they do not include the time that a request waited in
// the kernel or for the event loop: under overload they are better than what clients
// see, which the sample service is meant to demonstrate.

import prometheus from 'prom-client';
import gc from 'prom-client/lib/metrics/gc.js';
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js';
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js';
import processCpuTotal from 'prom-client/lib/metrics/processCpuTotal.js';
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import processResources from 'prom-client/lib/metrics/processResources.js';
import processStartTime from 'prom-client/lib/metrics/processStartTime.js';
import version from 'prom-client/lib/metrics/version.js';

/**
 * The default collectors of prom-client, but for that of the event loop's lag: its
 * timer wakes an idle process 100 times a second, which costs 1% of a CPU. Go's
 * collectors work only when they are read, and so do these.
 */
const collectors = [
  processCpuTotal, processStartTime, osMemoryHeap, processOpenFileDescriptors, processMaxFileDescriptors,
  processResources, heapSizeAndUsed, heapSpacesSizeAndUsed, version, gc,
];

/** Upper bounds in seconds, the same in every sample service. */
const buckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Metrics {
  registry = new prometheus.Registry();
  #durations;
  #inserts;

  constructor() {
    const registers = [this.registry];
    for (const collect of collectors) collect(this.registry);
    this.#durations = new prometheus.Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time in the handler, by method, route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers,
    });
    this.#inserts = new prometheus.Histogram({
      name: 'device_insert_duration_seconds',
      help: 'Time until the store had kept a device or given up, its wait for a connection included.',
      buckets,
      registers,
    });
  }

  /** What takes the seconds of a request. No label is of a client's making. */
  observer(method, route, status) {
    return this.#durations.labels(method, route, String(status));
  }

  /** Awaits an insert, and records its duration, also after an error. */
  async timeInsert(insert) {
    const stop = this.#inserts.startTimer();
    try {
      await insert();
    } finally {
      stop();
    }
  }

  /** All figures in Prometheus' text format; a cluster puts its own here. */
  expose = () => this.registry.metrics();
}
