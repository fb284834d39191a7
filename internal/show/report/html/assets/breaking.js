// The curve of latency against the target load, with what analysis found on
// it: the objective, each cell's breaking point with its interval, its knee.
const breakingPanel = {
  id: "breaking", unit: "", height: 400, rebuilt: true, // its labels take more rows where it is narrower
  title: () => quantileNames[state.quantile] + " against the load",
  y: () => state.quantile, log: () => state.scale === "log",
};

// loads gives a cell's held loads as [targets, values], and for each of them whether it
// met the objective: null if that is not decided.
function loads(panel, cell) {
  const key = panel.y(), log = panel.log(), points = [[], []], met = [];
  for (const s of charts.steps[cell]) {
    const y = s[key];
    if (y === null || (log && y <= 0)) continue;
    points[0].push(s.target);
    points[1].push(y);
    met.push(s.met);
  }
  return { points, met };
}

// judged reports whether a cell's loads were held against an objective.
const judged = (cell) => charts.steps[cell].some((s) => s.met !== null);

// trend joins loads that lie within 4% of one another: their medians make a
// line that single windows do not pull about.
function trend([xs, ys]) {
  const out = [];
  for (let from = 0; from < xs.length;) {
    let to = from;
    while (to < xs.length && xs[to] <= xs[from] * 1.04) to++;
    const middle = (v) => { const s = v.slice(from, to).sort((a, b) => a - b); return (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2; };
    out.push([middle(xs), middle(ys)]);
    from = to;
  }
  return out;
}

// A load that met the objective is filled, one that missed it hollow, and one that is not
// decided dotted. Without an objective all are filled.
function drawLoads(panel, cell, verdicts) {
  return (u, index) => {
    const px = uPlot.pxRatio, line = new Path2D(), met = new Path2D(), missed = new Path2D(), open = new Path2D();
    const pathOf = (verdict) => (verdict === false ? missed : verdict === null && judged(cell) ? open : met);
    trend(u.data[index]).forEach(([x, y], i) => {
      const at = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
      if (i) line.lineTo(...at); else line.moveTo(...at);
    });
    eachPoint(u, index, (x, y, i) => glyphPath(pathOf(verdicts[i]), cellShape(cell), x, y, 4.5 * px));
    u.ctx.save();
    clip(u);
    u.ctx.lineWidth = 2 * px;
    u.ctx.strokeStyle = cellColour(cell, 0.55);
    u.ctx.setLineDash(cellDash(cell).map((d) => d * px));
    u.ctx.stroke(line);
    u.ctx.setLineDash([]);
    u.ctx.lineWidth = 1.8 * px;
    u.ctx.strokeStyle = u.ctx.fillStyle = cellColour(cell);
    u.ctx.fill(met);
    u.ctx.fillStyle = colour("card");
    u.ctx.fill(missed);
    u.ctx.stroke(missed);
    u.ctx.fill(open);
    u.ctx.setLineDash([1.6 * px, 1.6 * px]);
    u.ctx.stroke(open);
    u.ctx.restore();
    return null;
  };
}

const breakings = () => charts.cells.map((c, cell) => ({ cell, ...c.breaking })).filter((b) => b.at !== undefined && shown(b.cell));

// drawBands shades the intervals, below everything else. That of a lower bound
// has no end, and fades.
function drawBands(u) {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  for (const b of breakings()) {
    if (b.low === null) continue;
    const a = Math.max(left, u.valToPos(b.low, "x", true)), end = b.high === null ? left + width : Math.min(left + width, u.valToPos(b.high, "x", true));
    if (end <= a) continue;
    if (b.high === null) {
      const fade = u.ctx.createLinearGradient(a, 0, end, 0);
      fade.addColorStop(0, cellColour(b.cell, 0.2));
      fade.addColorStop(1, cellColour(b.cell, 0));
      u.ctx.fillStyle = fade;
    } else u.ctx.fillStyle = cellColour(b.cell, 0.13);
    u.ctx.fillRect(a, top, end - a, height);
  }
  u.ctx.restore();
}

// labelRows puts the figures of breaking points into as many rows above the
// plot as they need not to touch. place gives a load's place in CSS pixels.
function labelRows(place, wide) {
  const ends = [];
  return breakings().sort((a, b) => a.at - b.at).map((b) => {
    const half = b.label.length * 4 + 9, x = Math.min(Math.max(place(b.at), half), wide - half);
    let row = ends.findIndex((end) => end < x - half);
    if (row < 0) row = Math.min(ends.length, 11);
    ends[row] = x + half;
    return { ...b, x, row };
  });
}

// drawBreakings draws the lines, and above them the figures: in ink, because not every
// hue can be read as text, behind the mark of the cell.
function drawBreakings(u) {
  const { left, top, width, height } = u.bbox, px = uPlot.pxRatio;
  const labels = labelRows((at) => u.valToPos(at, "x", true) / px, u.width).map((b) => ({ ...b, line: u.valToPos(b.at, "x", true), y: top - (4 + 15 * b.row) * px }))
    .filter((b) => b.line >= left - 1 && b.line <= left + width + 1);
  u.ctx.save();
  u.ctx.textAlign = "left";
  u.ctx.textBaseline = "bottom";
  u.ctx.font = `600 ${12 * px}px system-ui, sans-serif`;
  u.ctx.lineWidth = 1.6 * px;
  for (const b of labels) {
    u.ctx.strokeStyle = cellColour(b.cell);
    u.ctx.beginPath();
    u.ctx.moveTo(b.line, b.y + px);
    u.ctx.lineTo(b.line, top + height);
    u.ctx.stroke();
  }
  for (const b of labels) {
    const wide = u.ctx.measureText(b.label).width + 12 * px, from = b.x * px - wide / 2, glyph = new Path2D();
    u.ctx.fillStyle = colour("card");
    u.ctx.fillRect(from - 2 * px, b.y - 14 * px, wide + 4 * px, 14 * px);
    glyphPath(glyph, cellShape(b.cell), from + 4 * px, b.y - 7 * px, 3.6 * px);
    u.ctx.fillStyle = cellColour(b.cell);
    u.ctx.fill(glyph);
    u.ctx.fillStyle = colour("ink");
    u.ctx.fillText(b.label, from + 12 * px, b.y);
  }
  u.ctx.restore();
}

// knees are those of the quantile that is shown.
const knees = () => charts.cells.map((c, cell) => ({ cell, ...c.knee })).filter((k) => k.at !== undefined && shown(k.cell) && k.quantile === state.quantile);

function drawKnees(u) {
  const { left, top, width, height } = u.bbox, px = uPlot.pxRatio;
  u.ctx.save();
  clip(u);
  for (const k of knees()) {
    const x = u.valToPos(k.at, "x", true), y = Math.min(top + height, u.valToPos(k.floor_ms, "y", true));
    if (x < left || x > left + width) continue;
    u.ctx.strokeStyle = cellColour(k.cell);
    u.ctx.fillStyle = colour("card");
    u.ctx.lineWidth = 1.4 * px;
    u.ctx.setLineDash([2 * px, 3 * px]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, y);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
    u.ctx.setLineDash([]);
    u.ctx.lineWidth = 3 * px;
    u.ctx.lineCap = u.ctx.lineJoin = "round";
    u.ctx.beginPath();
    u.ctx.moveTo(x - 11 * px, y);
    u.ctx.lineTo(x, y);
    u.ctx.lineTo(x + 7 * px, y - 10 * px);
    u.ctx.stroke();
    u.ctx.lineCap = "butt";
  }
  u.ctx.restore();
}

function drawObjective(u) {
  const o = charts.objective;
  if (o && o.quantile === state.quantile) markedLine(u, o.ms, `objective ${tick(o.ms)} ms`);
}

// farApart reports that cells break at loads of different size, which no linear
// axis shows side by side.
const points = charts.cells.filter((c) => c.breaking).map((c) => c.breaking.at);
const farApart = points.length > 1 && Math.max(...points) > 8 * Math.min(...points);

// digit rounds to one digit, away from what lies between.
function digit(v, round) {
  const power = 10 ** Math.floor(Math.log10(v));
  return round(v / power) * power;
}

// Everything that is marked has to be in sight.
function loadRange(u, min, max) {
  const marks = breakings().flatMap((b) => [b.at, b.high ?? b.at]);
  const top = Math.max(max ?? 0, ...marks);
  if (!(top > 0)) return [farApart ? 0.1 : 0, 1];
  return [farApart ? digit(Math.min(min || top, ...marks) * 0.9, Math.floor) : 0, top * (farApart ? 1.3 : 1.06)];
}

function objectiveRange(u, min, max) {
  const o = charts.objective && charts.objective.quantile === state.quantile ? [charts.objective.ms] : [];
  const low = Math.min(...o, ...knees().map((k) => k.floor_ms), min || Infinity), high = Math.max(...o, max ?? 0);
  if (!(high > 0)) return [state.scale === "log" ? 0.1 : 0, 1];
  return state.scale === "log" ? [digit(low * 0.75, Math.floor), digit(high * 1.15, Math.ceil)] : [0, high * 1.08];
}

const someLoad = (panel) => charts.cells.some((c, cell) => loads(panel, cell).points[0].length > 0);

// roughly places loads before there is a plot: the rows of labels above it
// decide how high it is.
function roughly(wide) {
  const targets = charts.steps.flat().map((s) => s.target).filter((v) => v > 0);
  const [from, to] = loadRange(null, Math.min(...targets), Math.max(...targets));
  const part = farApart ? (v) => Math.log(v / from) / Math.log(to / from) : (v) => v / to;
  return (at) => 60 + part(at) * (wide - 76);
}

function drawBreaking(panel) {
  if (panel.u) panel.u.destroy();
  const data = [null], series = [{}], log = panel.log();
  charts.cells.forEach((c, cell) => {
    const { points, met } = loads(panel, cell);
    data.push(points);
    series.push({ cell, mark: true, show: shown(cell), stroke: () => cellColour(cell), paths: drawLoads(panel, cell, met) });
  });
  const rows = Math.max(0, ...labelRows(roughly(panel.plot.clientWidth), panel.plot.clientWidth).map((b) => b.row + 1));
  panel.u = new uPlot({
    mode: 2, width: panel.plot.clientWidth, height: panel.height + 15 * Math.max(0, rows - 2), padding: [8 + 15 * rows, 16, 0, 0], legend: { show: false }, cursor: { show: false }, series,
    scales: { x: farApart ? { time: false, distr: 3, log: 10, range: loadRange } : { time: false, range: loadRange }, y: log ? { distr: 3, log: 10, range: objectiveRange } : { range: objectiveRange } },
    axes: [
      axis({ values: (u, ticks) => ticks.map((v) => (v === null ? "" : tick(v))), size: 26, space: 64, label: "target, " + charts.load_unit, labelSize: 20, labelFont: axisFont, labelGap: 0 }),
      axis({ values: (u, ticks) => ticks.map((v) => (v === null ? "" : v >= 1000 ? tick(v / 1000) + " s" : tick(v) + " ms")), size: axisSize, space: 40 }),
    ],
    hooks: { drawClear: [drawBands], draw: [drawObjective, drawBreakings, drawKnees] },
  }, data, panel.plot);
  panel.u.over.addEventListener("mousemove", (e) => breakingTip(panel, e.offsetX, e.offsetY));
  panel.u.over.addEventListener("mouseleave", () => panel.tip.hide());
  panel.tip = panel.tip || new Tip(panel.plot);
  millicore.panels[panel.id] = panel.u;
}

// breakingTip describes the nearest load, else of the mark under the pointer.
function breakingTip(panel, left, top) {
  const u = panel.u, px = uPlot.pxRatio;
  const show = (head, cell, ...texts) => panel.tip.show(left + u.over.offsetLeft, top + u.over.offsetTop, head, [[cell, ...texts]]);
  let best = null;
  for (let index = 1; index < u.data.length; index++) {
    const { cell } = u.series[index];
    if (!shown(cell)) continue;
    eachPoint(u, index, (x, y, i) => {
      const d = Math.hypot((x - u.bbox.left) / px - left, (y - u.bbox.top) / px - top);
      if (d < 12 && (best === null || d < best.d)) best = { d, index, i, cell };
    });
  }
  if (best !== null) {
    const [xs, ys] = u.data[best.index], met = loads(panel, best.cell).met[best.i];
    const verdict = !judged(best.cell) ? "" : met === null ? "not decided: a window had no answer" : met ? "meets the objective" : "misses the objective";
    return show(number(xs[best.i]) + " " + charts.load_unit, best.cell, number(ys[best.i]) + " ms", verdict);
  }
  const near = (v) => Math.abs(u.valToPos(v, "x") - left) < 6;
  const knee = knees().find((k) => near(k.at) && top > u.valToPos(k.floor_ms, "y") - 14);
  if (knee) return show(knee.text, knee.cell);
  const line = breakings().find((b) => near(b.at));
  if (line) return show(line.text, line.cell);
  panel.tip.hide();
}

function breakingLead() {
  const lead = document.getElementById("breaking-lead");
  if (!lead) return;
  const some = (of) => charts.cells.some(of), o = charts.objective;
  lead.textContent = "Each mark is one load that was held, windows of all trials together; the line joins their medians."
    + (some((c, cell) => judged(cell)) ? " Filled ones met the objective, hollow ones missed it." : "")
    + (some((c, cell) => judged(cell) && charts.steps[cell].some((s) => s.met === null)) ? " Dotted ones are not decided: a window had no answer." : "")
    + (some((c) => c.breaking) ? " A vertical line is a cell’s breaking point, its band reaches from one of its ends to the other." : "")
    + (some((c) => c.breaking && c.breaking.at_least) ? " A band without an end is a lower bound." : "")
    + (some((c) => c.knee && c.knee.quantile === state.quantile) ? " An elbow is the knee, where latency leaves its floor." : "")
    + (o && o.quantile !== state.quantile && quantileNames[o.quantile] ? ` The objective is about ${quantileNames[o.quantile]}.` : "");
}
