// The curves against the rate: what latency and throttling do as the service
// serves more. A small point is one interval of one trial; a large mark is the
// cell's own figure, or one level that a staged load held.
const curvePanels = [
  { id: "latency-rate", when: () => !charts.cells.every((c) => c.searched), title: () => quantileNames[state.quantile] + " against requests/s", unit: "ms", y: () => state.quantile, log: () => state.scale === "log" },
  { id: "throttled-rate", title: "Throttling against requests/s", unit: "% of periods", y: () => "throttled", factor: 100, range: [-2, 104], format: (v) => percent(v) },
];

// curvePoints gives a cell's small points and large marks as [rates, values].
function curvePoints(panel, cell) {
  const key = panel.y(), factor = panel.factor || 1, log = panel.log && panel.log();
  const fits = (x, y) => x !== null && y !== null && y !== undefined && !(log && y <= 0);
  const cloud = [[], []], marks = [[], []], c = charts.clouds[cell];
  (c.rate || []).forEach((x, i) => {
    const y = c[key][i];
    if (fits(x, y)) { cloud[0].push(x); cloud[1].push(y * factor); }
  });
  const own = charts.steps[cell].length ? charts.steps[cell] : [charts.cells[cell]];
  for (const o of own) if (fits(o.rate, o[key])) { marks[0].push(o.rate); marks[1].push(o[key] * factor); }
  return { cloud, marks };
}

// eachPoint calls do with the canvas place of each point of a series.
function eachPoint(u, index, do_) {
  const [xs, ys] = u.data[index];
  for (let i = 0; i < xs.length; i++) do_(u.valToPos(xs[i], "x", true), u.valToPos(ys[i], "y", true), i);
}

function drawCloud(cell) {
  return (u, index) => {
    const path = new Path2D(), few = u.data[index][0].length < 150;
    eachPoint(u, index, (x, y) => glyphPath(path, cellShape(cell), x, y, (few ? 3 : 2.2) * uPlot.pxRatio));
    u.ctx.save();
    clip(u);
    u.ctx.fillStyle = cellColour(cell, few ? 0.5 : 0.34);
    u.ctx.fill(path);
    u.ctx.restore();
    return null;
  };
}

function drawMarks(cell) {
  return (u, index) => {
    const px = uPlot.pxRatio, line = new Path2D(), marks = new Path2D();
    const several = charts.steps[cell].length > 0;
    eachPoint(u, index, (x, y, i) => {
      if (several) i ? line.lineTo(x, y) : line.moveTo(x, y);
      glyphPath(marks, cellShape(cell), x, y, (several ? 5 : 7) * px);
    });
    u.ctx.save();
    clip(u);
    u.ctx.strokeStyle = cellColour(cell);
    u.ctx.lineWidth = 2 * px;
    u.ctx.setLineDash(cellDash(cell).map((d) => d * px));
    u.ctx.stroke(line);
    u.ctx.setLineDash([]);
    u.ctx.fillStyle = cellColour(cell);
    u.ctx.strokeStyle = colour("card");
    u.ctx.fill(marks);
    u.ctx.stroke(marks);
    u.ctx.restore();
    return null;
  };
}

// clip keeps marks at the edge whole: the plot's box, and a little round it.
function clip(u) {
  const { left, top, width, height } = u.bbox, out = 8 * uPlot.pxRatio;
  u.ctx.beginPath();
  u.ctx.rect(left - out, top - out, width + 2 * out, height + 2 * out);
  u.ctx.clip();
}

// rateRange starts at 0 unless all points lie close together.
function rateRange(u, min, max) {
  if (min === null || max === null) return [0, 1];
  const span = Math.max(max - min, max * 0.02, 1e-9);
  return min < max * 0.5 ? [0, max * 1.05] : [min - span * 0.12, max + span * 0.12];
}

function latencyRange(u, min, max) {
  if (min === null || max === null) return [0, 1];
  return state.scale === "log" ? uPlot.rangeLog(min, max, 10, false) : [0, max * 1.08];
}

function drawCurve(panel) {
  if (panel.u) panel.u.destroy();
  const data = [null], series = [{}];
  const sets = charts.cells.map((c, cell) => curvePoints(panel, cell));
  sets.forEach((s, cell) => { data.push(s.cloud); series.push({ cell, show: shown(cell), stroke: () => cellColour(cell), paths: drawCloud(cell) }); });
  sets.forEach((s, cell) => { data.push(s.marks); series.push({ cell, mark: true, show: shown(cell), stroke: () => cellColour(cell), paths: drawMarks(cell) }); });
  const log = panel.log && panel.log();
  panel.u = new uPlot({
    mode: 2, width: panel.plot.clientWidth, height: 300, padding: [10, 14, 0, 0], legend: { show: false }, cursor: { show: false }, series,
    scales: {
      x: { time: false, range: rateRange },
      y: panel.range ? { range: panel.range } : log ? { distr: 3, log: 10, range: latencyRange } : { range: latencyRange },
    },
    axes: [
      axis({ values: (u, ticks) => ticks.map(tick), size: 26, space: 64 }),
      axis({ values: (u, ticks) => ticks.map((v) => (v === null || (panel.range && (v > 100 || v < 0)) ? "" : tick(v))), size: axisSize, space: 40 }),
    ],
  }, data, panel.plot);
  panel.u.over.addEventListener("mousemove", (e) => curveTip(panel, e.offsetX, e.offsetY));
  panel.u.over.addEventListener("mouseleave", () => panel.tip.hide());
  panel.tip = panel.tip || new Tip(panel.plot);
  millicore.panels[panel.id] = panel.u;
}

// curveTip describes the point nearest to the pointer.
function curveTip(panel, left, top) {
  const u = panel.u, px = uPlot.pxRatio, reach = 22;
  let best = null;
  for (let index = 1; index < u.data.length; index++) {
    const s = u.series[index];
    if (!shown(s.cell)) continue;
    eachPoint(u, index, (x, y, i) => {
      const d = Math.hypot((x - u.bbox.left) / px - left, (y - u.bbox.top) / px - top) - (s.mark ? 5 : 0);
      if (d < reach && (best === null || d < best.d)) best = { d, index, i, s };
    });
  }
  if (best === null) return panel.tip.hide();
  const [xs, ys] = u.data[best.index], format = panel.format || ((v) => number(v) + " ms");
  const steps = charts.steps[best.s.cell];
  const what = !best.s.mark ? "one interval" : steps.length ? `held ${number(steps[best.i].target)} ${charts.load_unit}` : "all trials";
  panel.tip.show(left + u.over.offsetLeft, top, what, [[best.s.cell, number(xs[best.i]) + " requests/s", format(ys[best.i])]]);
}
