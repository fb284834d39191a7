// Tables are fitted to the width that they have: see tables.css.
const fits = ["", "tight", "bare", "stacked"];

// fitTable takes the first fit that does not scroll sideways. A table that is not on the
// screen, in closed details, is fitted once it is.
function fitTable(box) {
  const width = box.clientWidth, table = box.firstElementChild;
  if (width === 0 || box.fitted === width) return;
  box.fitted = width;
  for (const fit of fits) {
    table.dataset.fit = fit;
    if (box.scrollWidth <= width) return;
  }
}

function fitTables() {
  for (const box of document.querySelectorAll(".scroll")) fitTable(box);
}
