// Boxes over the page's picture: buttons, so that a mouse, a finger, a keyboard and a screen reader reach them.
import { on, point, pointAway, shown } from "../bus.js";
import { $, bring, made, place } from "../dom.js";
import { family, plainLabel } from "../labels.js";
import { isHidden } from "./kinds.js";
import { HUES } from "./photos.js";
import { say } from "../words.js";

const SHORT = 60; // letters of a box's words that a screen reader says
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

export function startBoxes() {
  on("light", light);
  on("filter", filter);
}

// All boxes of a page. One Tab leads to them, arrows from one to the next.
export function drawBoxes(row) {
  const all = made("div", { id: "boxes", role: "group", "aria-label": say("boxes"), onkeydown: keyed });
  const parts = row.regions.map((region) => [region, region.bbox_2d, region.content ?? region.note ?? ""]);
  for (const thing of row.objects ?? []) parts.push([thing, onGrid(thing.box, row), thing.note ?? "", `hue-${thing.index % HUES}`]);
  for (const part of parts) all.append(boxOf(...part));
  if (all.firstElementChild) all.firstElementChild.tabIndex = 0;
  drawHit(all, row);
  return all;
}

const onGrid = (box, row) => box.map((value, side) => (1000 * value) / (side % 2 ? row.height : row.width));

function boxOf(one, box, words, colour = `is-${family(one.label)}`) {
  const pointing = (chosen) => () => point(one.index, "box", chosen);
  const node = made("button", {
    type: "button", tabindex: -1, class: `box ${colour}`, "data-index": one.index, "data-label": one.label,
    "aria-label": say("box", one.index + 1, plainLabel(one.label), plainWords(words).slice(0, SHORT)),
    onclick: pointing(true), onpointerenter: pointing(false), onfocus: pointing(false), onpointerleave: pointAway,
  });
  place(node, box);
  // a small box inside a large one is still to be reached
  node.style.zIndex = String(1000 - Math.min(999, Math.round(Math.sqrt((box[2] - box[0]) * (box[3] - box[1])))));
  node.hidden = isHidden(one.label);
  return node;
}

const plainWords = (words) => words.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();

// What a search has found: the region's box, or one of its own where the hit is no single region.
function drawHit(all, row) {
  if (!shown.hit) return;
  const known = row.regions.find((region) => region.index === shown.hit.region);
  const found = known && !shown.hit.isPart && [...all.children].find((node) => node.dataset.index === String(known.index));
  const node = found || (shown.hit.box && made("span", { class: "box" }));
  if (!node) return;
  if (!found) {
    place(node, shown.hit.box);
    all.append(node);
  }
  node.classList.add("hit");
  requestAnimationFrame(() => {
    bring(node, "center");
    if (known) point(known.index, "search", true); // its text is drawn by now
  });
}

function keyed(event) {
  const step = STEPS[event.key];
  const boxes = [...event.currentTarget.querySelectorAll("button:not([hidden])")];
  const next = boxes[boxes.indexOf(event.target) + step];
  if (!step || !next) return;
  event.preventDefault();
  event.stopPropagation();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function light(what) {
  for (const node of document.querySelectorAll("#boxes .lit")) node.classList.remove("lit");
  if (what.index === null) return;
  const node = $(`#boxes [data-index="${what.index}"]`);
  node?.classList.add("lit");
  if (node && what.chosen && what.from === "text") bring(node, "center");
}

function filter() {
  for (const node of document.querySelectorAll("#boxes [data-label]")) node.hidden = isHidden(node.dataset.label);
}
