// What the charts share: the data, colours, numbers, and a way to make elements.
const charts = JSON.parse(document.getElementById("charts").textContent);
const hues = 6, shapes = 4;
// Latencies of loads from idle to broken span powers of ten.
const spans = charts.steps.flat().map((s) => s.p99).filter((v) => v > 0);
const wide = spans.length > 0 && Math.max(...spans) > 20 * Math.min(...spans);
const state = { hidden: new Set(), quantile: "p99", scale: wide ? "log" : "linear", trials: "range", zoomed: {}, picked: {} };
const quantileNames = { p50: "p50", p99: "p99", p999: "p99.9" };

// The page's colours, as the canvas needs them: a custom property that depends
// on light and dark has its value only once an element uses it.
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
let colours = {};
function colour(name, alpha = 1) {
  const key = name + alpha;
  if (!(key in colours)) {
    probe.style.color = alpha === 1 ? `var(--${name})` : `color-mix(in srgb, var(--${name}) ${alpha * 100}%, transparent)`;
    colours[key] = getComputedStyle(probe).color;
  }
  return colours[key];
}
function forgetColours() { colours = {}; }
const cellColour = (cell, alpha) => colour("c" + (cell % hues), alpha);
const cellShape = (cell) => (cell + Math.floor(cell / hues)) % shapes;
const cellDash = (cell) => (cell < hues ? [] : cell < 2 * hues ? [7, 4] : [2, 3]);
const shown = (cell) => !state.hidden.has(cell);

// number writes three significant digits, as the tables do.
function number(v) {
  const size = Math.abs(v);
  if (size === 0 || size >= 99.95) return Math.round(v).toLocaleString("en-US");
  return v.toFixed(size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

// tick writes an axis' number: short, and without zeros that say nothing.
function tick(v) {
  const size = Math.abs(v);
  if (size >= 1e6) return +(v / 1e6).toPrecision(4) + "M";
  if (size >= 1e4) return +(v / 1e3).toPrecision(4) + "k";
  return String(+v.toPrecision(6));
}

// percent never rounds up to 100.
function percent(v) {
  if (v >= 100) return "100%";
  const digits = v > 99 ? 3 : 1;
  return +(Math.floor(v * 10 ** digits) / 10 ** digits).toFixed(digits) + "%";
}

const lastX = charts.x.length ? charts.x[charts.x.length - 1] : 0;
function clock(seconds) {
  if (lastX <= 180) return +seconds.toFixed(2) + " s";
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60), rest = String(whole % 60).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

// clockTick is a moment on an axis: short, as there are several.
function clockTick(seconds) {
  if (lastX < 3600 || seconds % 60 !== 0) return clock(seconds);
  const hours = Math.floor(seconds / 3600), minutes = (seconds % 3600) / 60;
  return hours === 0 ? `${minutes} min` : minutes === 0 ? `${hours} h` : `${hours} h ${minutes}`;
}

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// glyphPath traces a cell's mark around a place on the canvas.
function glyphPath(path, shape, x, y, r) {
  if (shape === 0) { path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI); }
  else if (shape === 1) path.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76);
  else if (shape === 2) { path.moveTo(x, y - r * 1.1); path.lineTo(x + r * 1.1, y + r * 0.9); path.lineTo(x - r * 1.1, y + r * 0.9); path.closePath(); }
  else { path.moveTo(x, y - r * 1.2); path.lineTo(x + r * 1.2, y); path.lineTo(x, y + r * 1.2); path.lineTo(x - r * 1.2, y); path.closePath(); }
}

// axisSize gives the vertical axis just the room that its longest label needs.
function axisSize(u, values, index, cycle) {
  const axis = u.axes[index];
  if (cycle > 1) return axis._size;
  const longest = (values || []).reduce((a, b) => (String(b).length > a.length ? String(b) : a), "");
  if (!longest) return 30;
  u.ctx.font = axis.font[0];
  return Math.ceil(u.ctx.measureText(longest).width / uPlot.pxRatio) + 14;
}

// uPlot scales whole pixels only.
const axisFont = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', Arial, sans-serif";
function axis(extra) {
  return Object.assign({
    stroke: () => colour("soft"), font: axisFont, gap: 5,
    grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, border: { show: false },
  }, extra);
}

// Tip is the small table beside the pointer.
class Tip {
  constructor(plot) {
    this.plot = plot;
    this.box = element("div", "tip");
    this.box.hidden = true;
    plot.append(this.box);
  }
  hide() { this.box.hidden = true; }
  show(left, top, head, rows) {
    const table = element("table");
    for (const [cell, ...texts] of rows) {
      const tr = element("tr");
      const name = element("td");
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("class", "glyph c" + (cell % hues));
      mark.setAttribute("viewBox", "0 0 12 12");
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [k, v] of Object.entries({ cx: 6, cy: 6, r: 5 })) dot.setAttribute(k, v);
      mark.append(dot);
      name.append(mark, charts.cells[cell].name);
      tr.append(name, ...texts.map((t) => element("td", "", t)));
      table.append(tr);
    }
    this.box.replaceChildren(element("div", "when", head), table);
    this.box.hidden = false;
    const room = this.plot.clientWidth, wide = this.box.offsetWidth;
    this.box.style.left = Math.max(0, left + 16 + wide > room ? left - wide - 12 : left + 16) + "px";
    this.box.style.top = Math.max(0, Math.min(top, this.plot.clientHeight - this.box.offsetHeight)) + "px";
  }
}
