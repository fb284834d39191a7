// Puts the panels on the page, and lets legend, switches and theme act on all
// of them at once.
const built = [];

function panelBox(panel, home) {
  const box = element("section", "panel");
  box.dataset.panel = panel.id;
  const header = element("header");
  panel.heading = element("h3");
  header.append(panel.heading, element("span", "unit", panel.unit));
  if (panel.limit && charts.cells.some((c) => panel.limit(c) !== null)) header.append(zoomButton(panel));
  if (panel.picks) header.append(panelSwitch(panel, state.picked, panel.picks, panel.picked));
  panel.plot = element("div", "plot");
  box.append(header, panel.plot);
  home.append(box);
}

// zoomButton shows a use that lies far below its limit by itself, and the limit again.
function zoomButton(panel) {
  const b = element("button", "zoom");
  b.type = "button";
  const press = (zoomed) => {
    state.zoomed[panel.id] = zoomed;
    b.textContent = zoomed ? "Show the limit" : "Zoom in";
    b.title = zoomed ? "Show the values and the limit on one axis" : "Show the values only, without the limit above them";
  };
  b.addEventListener("click", () => { press(!state.zoomed[panel.id]); panel.draw(); });
  press(false);
  return b;
}

// panelSwitch is one panel's own choice: which of several figures to show.
function panelSwitch(panel, choice, values, first) {
  const group = element("div", "switch");
  for (const [text, value] of values) {
    const b = element("button", "", text);
    b.type = "button";
    b.setAttribute("aria-pressed", String(value === first));
    b.addEventListener("click", () => {
      choice[panel.id] = value;
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === b));
      panel.draw();
    });
    group.append(b);
  }
  return group;
}

function title(panel) {
  panel.heading.textContent = typeof panel.title === "function" ? panel.title() : panel.title;
}

// addPanel builds a panel, or says that there is nothing to show in it.
function addPanel(panel, home, holdsData, draw) {
  panelBox(panel, home);
  panel.draw = () => {
    title(panel);
    const some = holdsData(panel);
    if (!some) {
      if (panel.u) { panel.u.destroy(); panel.u = null; delete millicore.panels[panel.id]; }
      if (!panel.none) panel.plot.append((panel.none = element("p", "empty", "not measured")));
      if (!millicore.empty.includes(panel.id)) millicore.empty.push(panel.id);
      return;
    }
    if (panel.none) { panel.none.remove(); panel.none = null; }
    millicore.empty = millicore.empty.filter((id) => id !== panel.id);
    draw(panel);
  };
  panel.draw();
  built.push(panel);
}

function redrawAll() {
  forgetColours();
  for (const p of built) if (p.u) p.u.redraw(true, true);
}

function fitAll() {
  fitTables();
  for (const p of built) {
    if (!p.u || p.plot.clientWidth === 0 || p.u.width === p.plot.clientWidth) continue;
    if (p.rebuilt) p.draw(); else p.u.setSize({ width: p.plot.clientWidth, height: p.u.height });
  }
}

// showCells makes legend and panels agree with what is hidden.
function showCells() {
  for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(shown(Number(chip.dataset.cell))));
  for (const part of document.querySelectorAll(".tail[data-cell], .gantt[data-cell], .profile[data-cell]")) part.hidden = !shown(Number(part.dataset.cell));
  for (const { u } of built) {
    if (u) u.batch(() => u.series.forEach((s, i) => { if (i > 0 && s.show !== shown(s.cell)) u.setSeries(i, { show: shown(s.cell) }); }));
  }
}

// alone leaves one cell, or brings all back if it was alone already.
function alone(cell) {
  const others = charts.cells.map((c, i) => i).filter((i) => i !== cell);
  const was = others.every((i) => !shown(i));
  state.hidden = new Set(was ? [] : others);
  showCells();
}

function wireLegend() {
  for (const chip of document.querySelectorAll(".chip")) {
    const cell = Number(chip.dataset.cell);
    chip.title = "Click: hide or show. Double-click: only this cell, or all.";
    chip.addEventListener("click", () => {
      if (shown(cell)) state.hidden.add(cell); else state.hidden.delete(cell);
      showCells();
    });
    chip.addEventListener("dblclick", () => alone(cell));
  }
}

function wireSwitches() {
  for (const group of document.querySelectorAll(".switch[data-choice]")) {
    const choice = group.dataset.choice, buttons = [...group.children];
    const press = () => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === state[choice])));
    buttons.forEach((b) => b.addEventListener("click", () => { state[choice] = b.dataset.value; press(); leads(); built.forEach((p) => p.draw()); }));
    press();
  }
}

function wireTheme() {
  const button = document.getElementById("theme"), name = document.getElementById("theme-name");
  name.textContent = millicore.theme();
  button.addEventListener("click", () => {
    const next = millicore.themes[(millicore.themes.indexOf(millicore.theme()) + 1) % millicore.themes.length];
    millicore.setTheme(next);
    name.textContent = next;
    redrawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  // Paper is white: print in light, whatever is on the screen.
  addEventListener("beforeprint", () => { document.documentElement.setAttribute("data-theme", "light"); redrawAll(); });
  addEventListener("afterprint", () => { millicore.setTheme(millicore.theme()); redrawAll(); });
}

function leads() {
  breakingLead();
  const several = Object.values(charts.lines).some((cells) => cells.some((l) => l && l.low));
  document.getElementById("trials-switch").hidden = !several;
  const staged = charts.steps.some((s) => s.length > 0);
  const searches = charts.cells.every((c) => c.searched);
  document.getElementById("curves-lead").textContent = searches
    ? "Large marks are the loads that the searches held; small marks are single intervals."
    : staged ? "Large marks are the levels that the load held; small marks are single intervals, including those of ramps."
    : "Large marks are the cells’ figures over all trials, including late answers; small marks are single intervals of the measured part.";
  document.getElementById("time-lead").textContent = !charts.x.length ? "" : "Seconds since each trial’s load began."
    + (!several ? "" : state.trials === "each" ? " Thick lines are the median over a cell’s trials at that moment, thin ones its trials."
      : " Lines are the median over a cell’s trials at that moment, bands reach from the lowest trial to the highest.")
    + (charts.warmup > 0 || charts.drain !== null ? " Grey at the start is the warm-up, which counts for nothing; grey at the end the drain, in which the last answers were awaited." : "")
    + (charts.thinned ? " The test is long: each stretch shows its lowest and its highest value." : "")
    + " Drag to zoom, double-click to go back.";
}

// ready notifies whoever waits, after what was drawn has been painted: uPlot draws
// in a microtask.
function ready() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    millicore.ready = true;
    document.documentElement.setAttribute("data-ready", "true");
  }));
}

function start() {
  millicore.state = state;
  wireTheme();
  wireTips();
  fitTables();
  document.addEventListener("toggle", fitTables, true); // of details, which do not pass it on
  new ResizeObserver(fitAll).observe(document.body);
  const someCurve = (p) => charts.cells.some((c, cell) => { const { cloud, marks } = curvePoints(p, cell); return cloud[0].length + marks[0].length > 0; });
  if (!someLoad(breakingPanel)) document.getElementById("breaking-section")?.remove();
  if (!curvePanels.some(someCurve) && !timePanels.some((p) => measured(p.metric()))) {
    document.getElementById("intervals").replaceChildren(element("p", "lead alone", "No interval was measured: there is nothing to draw."));
    document.getElementById("controls").remove();
    return ready();
  }
  leads();
  const breaking = document.getElementById("breaking"), curves = document.getElementById("curves"), panels = document.getElementById("panels");
  if (breaking) addPanel(breakingPanel, breaking, someLoad, drawBreaking);
  // A benchmark is sent nothing: what belongs to requests has no panels.
  const traffic = !document.getElementById("charts-section").hasAttribute("data-benchmark");
  for (const p of traffic ? curvePanels : []) if (!p.when || p.when()) addPanel(p, curves, someCurve, drawCurve);
  if (!timePanels.some((p) => measured(p.metric()))) panels.replaceWith(element("p", "lead", "The record has no intervals: there is nothing to draw over time."));
  else {
    for (const p of timePanels.filter((p) => traffic || measured(p.metric()))) if (!p.when || p.when(p.metric())) addPanel(p, panels, () => measured(p.metric()), drawTimePanel);
  }
  wireLegend();
  wireSwitches();
  ready();
}

start();
