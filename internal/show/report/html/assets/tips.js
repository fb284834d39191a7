// Tips of what is drawn without a canvas: the bars of the slow tail, the slowest
// requests and the functions of profiles carry their text with them.
function wireTips() {
  const box = element("div", "tip float");
  box.hidden = true;
  document.body.append(box);
  const hide = () => { box.hidden = true; };
  document.addEventListener("pointermove", (e) => {
    const of = e.target instanceof Element ? e.target.closest("[data-tip]") : null;
    if (!of) return hide();
    box.replaceChildren(...of.dataset.tip.split("\n").map((line) => element("div", "line", line)));
    box.hidden = false;
    const left = e.clientX + 14 + box.offsetWidth > innerWidth ? e.clientX - box.offsetWidth - 12 : e.clientX + 14;
    box.style.left = Math.max(4, left) + "px";
    box.style.top = Math.max(4, Math.min(e.clientY + 14, innerHeight - box.offsetHeight - 4)) + "px";
  });
  document.addEventListener("pointerleave", hide);
  addEventListener("scroll", hide, { passive: true });
}
