// The panels over time. Each shows one metric of all cells; the trials of a
// cell lie over one another, as a median with their range or each for itself.
const mib = 1 << 20;
const zero = (max) => [0, max > 0 ? max * 1.08 : 1];

const timePanels = [
  { id: "target", title: "Target load", unit: charts.load_unit, metric: () => "target", when: moves },
  { id: "rate", title: "Requests", unit: "per second, answered well", metric: () => "rate" },
  { id: "latency", title: () => quantileNames[state.quantile] + " latency", unit: "ms", metric: () => state.quantile, log: () => state.scale === "log" },
  { id: "replicas", title: "Replicas", unit: "that serve", metric: () => "replicas", when: moves },
  { id: "cpu", title: "CPU", unit: "cores", metric: () => "cpu", limit: (c) => c.cpu_limit, limitText: (v) => `limit ${tick(v)} ${v === 1 ? "CPU" : "CPUs"}` },
  { id: "memory", title: "Memory", unit: "MiB", metric: () => "memory", factor: 1 / mib, limit: (c) => c.memory_limit, limitText: (v) => `limit ${number(v)} MiB` },
  { id: "throttled", title: "Throttled periods", unit: "% of periods", metric: () => "throttled", factor: 100, range: () => [0, 106], format: (v) => percent(v) },
  { id: "throttled_ms", title: "Time per throttled period", unit: "ms", metric: () => "throttled_ms" },
  { id: "availability", title: "Availability", unit: "% of requests", metric: () => "availability", range: fromHundred, format: (v) => percent(v) },
  { id: "waits", title: waitTitle, unit: "ms", metric: () => "wait_" + (state.picked.waits || "p99"), when: (m) => measured(m),
    picks: [["p50", "p50"], ["p99", "p99"], ["mean", "mean"]], picked: "p99" },
  ...charts.dependencies.flatMap((name) => [
    { id: "dependency_cpu:" + name, title: "CPU of " + name, unit: "cores", metric: () => "dependency_cpu:" + name },
    { id: "dependency_memory:" + name, title: "Memory of " + name, unit: "MiB", metric: () => "dependency_memory:" + name, factor: 1 / mib },
  ]),
  { id: "agent_cpu", title: "Agent’s CPU", unit: "cores", metric: () => "agent_cpu" },
  { id: "idle", title: "Idle CPU of the host", unit: "cores", metric: () => "idle" },
  { id: "foreign", title: "Other processes’ CPU", unit: "cores", metric: () => "foreign" },
];

// waitTitle names what the service waited for, where that is one thing.
function waitTitle() {
  return "Waiting for " + (charts.dependencies.length === 1 ? charts.dependencies[0] : "its dependency");
}

const measured = (metric) => (charts.lines[metric] || []).some((l) => l !== null);

// moves reports whether the target load changes over time: only then is it
// worth a panel.
function moves(metric) {
  return (charts.lines[metric] || []).some((l) => {
    const values = l ? l.mid.filter((v) => v !== null) : [];
    return values.length > 0 && Math.min(...values) !== Math.max(...values);
  });
}

// fromHundred shows availability from the top down: at least one percent of it.
function fromHundred(max, min) {
  const low = Math.min(min, 99);
  return [Math.max(0, low - (100 - low) * 0.12), 100 + (100 - low) * 0.06];
}

// timeSeries lays out a metric's lines for uPlot: the bands and thin lines of
// all cells first, so that the medians lie on top.
function timeSeries(panel) {
  const factor = panel.factor || 1, log = panel.log && panel.log();
  const scaled = (values) => values.map((v) => (v === null || (log && v <= 0) ? null : v * factor));
  const data = [charts.x], series = [{}], bands = [];
  const add = (cell, values, look) => { data.push(scaled(values)); series.push(Object.assign({ cell, show: shown(cell) }, look)); };
  const all = charts.lines[panel.metric()];
  all.forEach((l, cell) => {
    if (!l || !l.low) return;
    if (state.trials === "each") {
      for (const t of l.trials) add(cell, t, { stroke: () => cellColour(cell, 0.4), width: 1, points: { show: false } });
      return;
    }
    // A faint edge, so that a spike of one trial in one moment is seen.
    const edge = { width: 0.6, stroke: () => cellColour(cell, 0.3), points: { show: false } };
    add(cell, l.high, edge);
    add(cell, l.low, edge);
    bands.push({ series: [series.length - 2, series.length - 1], fill: () => cellColour(cell, charts.cells.length > 4 ? 0.1 : 0.17) });
  });
  all.forEach((l, cell) => {
    if (!l) return;
    add(cell, l.mid, { mid: true, stroke: () => cellColour(cell), width: state.trials === "each" && l.low ? 2.2 : 1.8, dash: cellDash(cell), points: lonePoints(cell) });
  });
  return { data, series, bands };
}

// lonePoints marks values that stand between two gaps: no line would show them.
function lonePoints(cell) {
  return {
    show: false, size: 5, fill: () => cellColour(cell), stroke: () => cellColour(cell),
    filter: (u, index) => {
      const v = u.data[index], lone = [];
      for (let i = 0; i < v.length; i++) if (v[i] != null && v[i - 1] == null && v[i + 1] == null) lone.push(i);
      return lone;
    },
  };
}

// limits are the limits of the cells that are shown, those that are equal once.
function limits(panel) {
  if (!panel.limit) return [];
  const found = new Map();
  charts.cells.forEach((c, cell) => {
    const v = panel.limit(c);
    if (v === null || !shown(cell)) return;
    const at = v * (panel.factor || 1);
    found.set(at, found.has(at) ? null : cell);
  });
  return [...found].map(([value, cell]) => ({ value, cell: found.size > 1 ? cell : null }));
}

function yRange(panel) {
  return (u, min, max) => {
    if (min === null || max === null) return [0, 1];
    if (panel.log && panel.log()) return uPlot.rangeLog(min, max, 10, false);
    if (panel.range) return panel.range(max, min);
    const highest = state.zoomed[panel.id] ? [] : limits(panel).map((l) => l.value);
    if (state.zoomed[panel.id] && max > min) return [Math.max(0, min - (max - min) * 0.1), max + (max - min) * 0.1];
    // Room above a limit is for its label.
    return highest.length ? [0, Math.max(max * 1.08, Math.max(...highest) * 1.16)] : zero(max);
  };
}

// shade marks the warm-up, which counts for nothing, and the drain, in which
// nothing was sent.
function shade(u) {
  const { left, top, width, height } = u.bbox;
  const draw = (from, to) => {
    const a = Math.max(left, u.valToPos(from, "x", true)), b = Math.min(left + width, u.valToPos(to, "x", true));
    if (b > a) u.ctx.fillRect(a, top, b - a, height);
  };
  u.ctx.save();
  u.ctx.fillStyle = colour("shade");
  if (charts.warmup > 0) draw(0, charts.warmup);
  if (charts.drain !== null) draw(charts.drain, lastX);
  u.ctx.restore();
}

function drawLimits(u, panel) {
  for (const { value, cell } of limits(panel)) {
    markedLine(u, value, panel.limitText(value), { stroke: cell === null ? colour("ink") : cellColour(cell), end: "right" });
  }
}

function timeTip(u, panel, tip) {
  const at = u.cursor.idx;
  if (!panel.hovered || at === null || at === undefined || u.cursor.left < 0) return tip.hide();
  const factor = panel.factor || 1, format = panel.format || number, rows = [];
  charts.lines[panel.metric()].forEach((l, cell) => {
    if (!l || !shown(cell) || l.mid[at] === null) return;
    const range = l.low && l.low[at] !== null ? `${format(l.low[at] * factor)}–${format(l.high[at] * factor)}` : "";
    rows.push([cell, format(l.mid[at] * factor), range]);
  });
  if (rows.length === 0) return tip.hide();
  tip.show(u.cursor.left + u.over.offsetLeft, u.over.offsetTop + 6, clock(u.data[0][at]), rows);
}

function drawTimePanel(panel) {
  if (panel.u) panel.u.destroy();
  const { data, series, bands } = timeSeries(panel);
  const log = panel.log && panel.log();
  panel.u = new uPlot({
    width: panel.plot.clientWidth, height: 196, padding: [8, 22, 0, 0], legend: { show: false }, series, bands,
    scales: {
      x: { time: false, range: (u, min, max) => (min === charts.x[0] ? [0, max] : [min, max]) },
      y: log ? { distr: 3, log: 10, range: yRange(panel) } : { range: yRange(panel) },
    },
    axes: [
      axis({ values: (u, ticks) => ticks.map(clockTick), size: 26, space: 64, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200] }),
      axis({ values: (u, ticks) => ticks.map((v) => (v === null || (panel.range && v > 100) ? "" : tick(v))), size: axisSize, space: 34 }),
    ],
    cursor: {
      sync: { key: "time", scales: ["x", null] }, y: false, drag: { x: true, y: false, dist: 8 },
      points: { show: (u, i) => Boolean(u.series[i].mid), size: 7, fill: (u, i) => cellColour(u.series[i].cell), width: 0 },
    },
    hooks: {
      drawClear: [shade], draw: [(u) => drawLimits(u, panel)], setCursor: [(u) => timeTip(u, panel, panel.tip)],
    },
  }, data, panel.plot);
  panel.u.over.addEventListener("mouseenter", () => { panel.hovered = true; });
  panel.u.over.addEventListener("mouseleave", () => { panel.hovered = false; panel.tip.hide(); });
  panel.tip = panel.tip || new Tip(panel.plot);
  millicore.panels[panel.id] = panel.u;
}
