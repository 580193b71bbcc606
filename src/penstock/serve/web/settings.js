// Light or dark, Korean or English: by the browser's own settings until someone switches.
import { on } from "./bus.js";
import { $ } from "./dom.js";
import { say, switchLanguage } from "./words.js";

const KEPT = "penstock-theme";
const SIGNS = { auto: "◐", light: "○", dark: "●" };
const THEMES = Object.keys(SIGNS);

export function startSettings() {
  $("#language").addEventListener("click", switchLanguage);
  $("#theme").addEventListener("click", () => use(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]));
  on("words", draw);
  use(theme());
}

function theme() {
  const kept = localStorage.getItem(KEPT);
  return THEMES.includes(kept) ? kept : "auto";
}

function use(name) {
  localStorage.setItem(KEPT, name);
  document.documentElement.dataset.theme = name;
  draw();
}

function draw() {
  const other = $("#language");
  other.textContent = say("otherLanguage");
  other.lang = say("otherLanguage") === "English" ? "en" : "ko";
  const words = say("theme", say(theme()));
  Object.assign($("#theme"), { textContent: SIGNS[theme()], title: words, ariaLabel: words });
}
