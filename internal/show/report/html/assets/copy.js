// The page joins the parts of a setting with U+2060, so that no line ends within it. What is
// copied is the setting as it was written.
document.addEventListener("copy", (e) => {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.toString().includes("\u2060")) return;
  const box = document.createElement("div"), plain = (text) => text.replaceAll("\u2060", "");
  box.append(selection.getRangeAt(0).cloneContents());
  e.clipboardData.setData("text/plain", plain(selection.toString()));
  e.clipboardData.setData("text/html", plain(box.innerHTML));
  e.preventDefault();
});
