// What several charts are marked with.

// markedLine draws a dashed line all across the plot at a value of its vertical
// axis, with its text above one end of it. A line out of sight is none.
function markedLine(u, value, text, { stroke = colour("ink"), end = "left" } = {}) {
  const { left, top, width, height } = u.bbox, px = uPlot.pxRatio, y = u.valToPos(value, "y", true);
  if (y < top - 1 || y > top + height + 1) return;
  u.ctx.save();
  u.ctx.strokeStyle = stroke;
  u.ctx.fillStyle = colour("ink");
  u.ctx.lineWidth = 1.2 * px;
  u.ctx.setLineDash([6 * px, 4 * px]);
  u.ctx.beginPath();
  u.ctx.moveTo(left, y);
  u.ctx.lineTo(left + width, y);
  u.ctx.stroke();
  u.ctx.font = `${11 * px}px system-ui, sans-serif`;
  u.ctx.textAlign = end;
  u.ctx.textBaseline = "bottom";
  u.ctx.fillText(text, end === "left" ? left + 4 * px : left + width - 4 * px, y - 3 * px);
  u.ctx.restore();
}
