// Put before a Node.js service's own code (--require) by millicore: profiles the
// main thread and writes CPU.<pid>.cpuprofile beside this file when the process
// receives a signal to end. --cpu-prof is not an alternative: it writes nothing on
// SIGTERM, and only newer versions accept it in NODE_OPTIONS. Nothing here may break
// the service: an error is only written to standard error.
"use strict";
(() => {
  const say = (error) => process.stderr.write(`millicore: no CPU profile of process ${process.pid}: ${error && error.message}\n`);
  try {
    if (!require("worker_threads").isMainThread) return;
    const { Session } = require("inspector");
    const fs = require("fs");
    const path = require("path");
    const session = new Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.start");

    let written = false;
    const write = () => {
      if (written) return;
      written = true;
      // The answer comes before post returns: the session is of this very thread.
      session.post("Profiler.stop", (error, result) => {
        if (error) return say(error);
        try {
          const name = path.join(__dirname, `CPU.${process.pid}.cpuprofile`);
          fs.writeFileSync(name + ".tmp", JSON.stringify(result.profile));
          fs.renameSync(name + ".tmp", name);
        } catch (error) {
          say(error);
        }
      });
    };
    process.on("exit", write);
    for (const signal of ["SIGTERM", "SIGINT"]) {
      const end = () => {
        write();
        // A service that handles the signal ends as it likes; else it ends by
        // the signal, as it would have without this file.
        process.removeListener(signal, end);
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      };
      process.on(signal, end);
    }
  } catch (error) {
    say(error);
  }
})();
