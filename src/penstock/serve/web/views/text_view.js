// What the page says, region by region, each tied to its box.
import { ask, jobIn, query, told } from "../api.js";
import { on, point, pointAway, service, shown, tell } from "../bus.js";
import { copyButton } from "./copying.js";
import { drawDownloads } from "./downloads.js";
import { $, bring, button, isNarrow, made } from "../dom.js";
import { cropOf } from "../files.js";
import { formulaOf } from "./formulas.js";
import { family, plainLabel, plainName } from "../labels.js";
import { isHidden } from "./kinds.js";
import { drawThings } from "./photos.js";
import { showPane } from "./opened.js";
import { forgetPictures } from "../pictures.js";
import { tableOf } from "./tables.js";
import { say } from "../words.js";

const FORMULAS = ["display_formula", "inline_formula"];
const TITLES = ["doc_title", "paragraph_title"];

export function startTextView() {
  on("page", draw);
  on("words", draw);
  on("light", light);
  on("filter", filter);
}

function draw(trouble) {
  const row = shown.row;
  const box = $("#text");
  box.replaceChildren();
  if (!shown.name) return;
  box.append(made("h2", { class: "title" }, plainName(shown.name)));
  if (!row) return box.append(made("p", { class: "note" }, trouble ?? say("notRead")));
  box.append(drawDownloads(row));
  if (row.failure) box.append(failed(row.failure));
  for (const region of row.regions) box.append(drawRegion(region));
  if (row.objects) box.append(drawThings(row));
  if (!row.failure && !row.regions.length && !row.objects) box.append(made("p", { class: "note" }, say("empty")));
  filter();
}

function drawRegion(region) {
  const words = region.failure ? region.failure.message : region.content ?? region.note ?? "";
  const fromFile = ["layer", "structure"].includes(region.reader.split("+")[0]) ? say("fromFile") : "";
  const sure = region.confidence === null ? fromFile : say("sure", Math.floor(region.confidence * 100));
  const tag = button(`${region.index + 1} ${plainLabel(region.label)}`, () => choose(region.index), { class: "tag" });
  const head = made("div", { class: "head" }, tag, made("small", {}, sure), region.content ? copyButton(() => region.content) : null, jobIn(shown.name) ? null : copyButton(() => `${location.origin}${location.pathname}#${region.locator}`, "link"));
  const part = made("article", {
    class: `part is-${family(region.label)}` + (region.failure ? " bad" : ""), "data-index": region.index, "data-label": region.label,
    onpointerenter: () => point(region.index, "text"), onpointerleave: pointAway,
    onclick: () => getSelection().isCollapsed && point(region.index, "text", true),
  }, head, shownWords(region, words));
  if (region.crop && (!region.content || family(region.label) === "picture")) part.append(cropOf(region.crop, plainLabel(region.label)));
  return part;
}

function choose(index) {
  if (isNarrow()) showPane("page");
  point(index, "text", true);
}

// Words as what they are: a table, a formula (its source, where that is not understood), a title, or lines of text.
function shownWords(region, words) {
  if (!region.failure && region.label === "table") {
    const table = tableOf(words);
    if (table) return made("div", { class: "wide", tabindex: 0, role: "region", "aria-label": plainLabel("table") }, table);
  }
  const formula = !region.failure && FORMULAS.includes(region.label) ? formulaOf(words) : null;
  if (formula) return made("div", { class: "wide formula", tabindex: 0, role: "region", "aria-label": plainLabel(region.label) }, formula);
  if (FORMULAS.includes(region.label) || region.label === "algorithm") return made("pre", { tabindex: 0 }, made("code", {}, words));
  return made(TITLES.includes(region.label) ? "h3" : "p", {}, words);
}

function failed(failure) {
  const again = service.takesDocuments && !jobIn(shown.name) ? button(say("again"), readAgain, { class: "plain" }) : null;
  return made("div", { class: "part bad", role: "alert" }, made("strong", {}, `${say("failed")}: ${failure.stage}`), made("p", {}, `${failure.message} ${failure.advice}`), again);
}

async function readAgain(event) {
  event.target.disabled = true;
  try {
    await ask("v1/retry?" + query(shown.name), { method: "POST" });
    forgetPictures(query(shown.name));
    $("#state").textContent = say("againSent");
    tell("documents");
  } catch (trouble) {
    event.target.after(made("p", { class: "note" }, told(trouble)));
  }
}

function light(what) {
  for (const node of document.querySelectorAll("#text .lit")) node.classList.remove("lit");
  if (what.index === null) return;
  const part = $(`#text [data-index="${what.index}"]`);
  part?.classList.add("lit");
  if (!part || !what.chosen || what.from === "text") return;
  if (isNarrow() && what.from === "box") showPane("text");
  bring(part);
}

function filter() {
  for (const node of document.querySelectorAll("#text [data-label]")) node.hidden = isHidden(node.dataset.label);
}
