// The theme is chosen before anything is painted. "system" follows the device.
"use strict";
var millicore = { themes: ["system", "light", "dark"], panels: {}, empty: [], ready: false };

millicore.theme = function () {
  try { return localStorage.getItem("millicore-theme") || "system"; } catch (e) { return millicore.chosen || "system"; }
};

millicore.setTheme = function (name) {
  millicore.chosen = name;
  try { localStorage.setItem("millicore-theme", name); } catch (e) { /* a file may have no storage */ }
  if (name === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", name);
};

millicore.setTheme(millicore.theme());
