// The process of a service: its output, its end and its exit code.

import { readSettings, usage, WrongUsage } from './settings.js';

/** How long requests in flight may take after a signal, in milliseconds: the
 * process is gone a second before the five that workloads/README.md allows. */
export const grace = 4_000;

export class Program {
  /** frameworks are the values of FRAMEWORK, the default first. */
  constructor(name, frameworks) {
    this.name = name;
    this.frameworks = frameworks;
  }

  /** Writes a warning to standard error. */
  warn(message) {
    process.stderr.write(`${this.name}: ${message}\n`);
  }

  /** Writes why the process ends, and ends it: exit code 2 for wrong usage, else 1. */
  fail(error) {
    this.warn(error.message || error);
    process.exit(error instanceof WrongUsage ? 2 : 1);
  }

  /** The settings, once --help has been answered and wrong usage refused. */
  settings() {
    let settings;
    try {
      settings = readSettings(process.argv.slice(2), process.env, this.frameworks);
    } catch (error) {
      this.fail(error);
    }
    if (settings.help) {
      process.stdout.write(usage(this.name));
      process.exit(0);
    }
    return settings;
  }

  /** Writes the line that announces the address on which the service listens. */
  listens(url, version) {
    process.stdout.write(`${this.name} listening on ${url}, ${version}\n`);
  }

  /**
   * Awaits stop() at the first SIGTERM or SIGINT, then ends the process with 0;
   * at a second one the runtime ends it at once, as nobody listens any more.
   */
  onSignal(stop) {
    const signals = ['SIGTERM', 'SIGINT'];
    const first = async () => {
      for (const signal of signals) process.removeListener(signal, first);
      try {
        await stop();
      } catch (error) {
        this.fail(error);
      }
      process.exit(0);
    };
    for (const signal of signals) process.on(signal, first);
  }
}

/** The URL of an address, with brackets round one of IPv6. */
export function urlOf(address, port) {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
