// What a person should look at: its picture beside its text, which can be put right. What was typed is kept by the service.
import { address, ask, told } from "../api.js";
import { on, tell } from "../bus.js";
import { $, button, made } from "../dom.js";
import { plainName } from "../labels.js";
import { open } from "./opened.js";
import { showPicture } from "../pictures.js";
import { say } from "../words.js";

const MOST = 30; // places at a time: each has a picture
const AROUND = 12; // of the page's 1000, left around a place
const now = { places: null, trouble: "" };

export function startReview() {
  on("view", (name) => name === "review" && refresh());
  on("words", draw);
}

async function refresh() {
  try {
    now.places = await ask(`v1/review?top=${MOST}`);
    now.trouble = "";
  } catch (trouble) {
    now.trouble = told(trouble);
  }
  draw();
}

function draw() {
  if (document.body.dataset.view !== "review") return;
  const places = now.places ?? [];
  const note = now.trouble || (places.length ? (places.length < MOST ? "" : say("moreReview", MOST)) : say("noReview"));
  $("#review").replaceChildren(made("h2", {}, say("toReview")), note ? made("p", { class: "note" }, note) : "", made("ol", { class: "places" }, places.map(drawPlace)));
}

function drawPlace(place) {
  const [, part] = /\/p\d+\/?(.*)$/.exec(place.locator) ?? [];
  const where = `${plainName(place.document)} · ${place.page}${part ? ` · ${part}` : ""}`;
  const go = button(where, () => open(place.document, place.page, place.bbox && { region: null, box: place.bbox, isPart: true }), { class: "link", title: say("show") });
  const says = made("div", { class: "says" }, go, made("p", { class: "note" }, place.reason), place.kind === "page" ? "" : drawField(place));
  return made("li", { class: "place", "data-locator": place.locator }, drawCut(place), says);
}

// The place cut out of its page's picture.
function drawCut(place) {
  const cut = made("div", { class: "cut" });
  if (!place.bbox) return cut;
  const [left, top, right, bottom] = place.bbox.map((value, side) => Math.min(1000, Math.max(0, value + (side < 2 ? -AROUND : AROUND))));
  const image = made("img", { alt: "", draggable: "false" });
  image.addEventListener("load", () => {
    const [width, height] = [((right - left) * image.naturalWidth) / 1000, ((bottom - top) * image.naturalHeight) / 1000];
    cut.style.aspectRatio = `${width} / ${height}`;
    image.style.width = `${100_000 / (right - left)}%`;
    image.style.left = `${(-100 * left) / (right - left)}%`;
    image.style.top = `${(-100 * top) / (bottom - top)}%`;
  });
  showPicture(image, address("picture", place.document, place.page, "&boxes=false&side=2000"));
  cut.append(image);
  return cut;
}

function drawField(place) {
  const field = made("textarea", { rows: Math.min(6, 1 + Math.floor(place.text.length / 60)), spellcheck: "false", "aria-label": say("stands") });
  const state = made("small", { role: "status" });
  const before = made("ul", { class: "history" });
  const form = made("form", { onsubmit: (event) => keep(event, place, field, state, before) }, field, made("button", { type: "submit", class: "plain" }, say("keep")), state, before);
  fill(place, field);
  return form;
}

// The list has the beginning of a long text; what is corrected is all of it.
async function fill(place, field) {
  field.value = place.text;
  try {
    place.whole = (await ask(`v1/at?locator=${encodeURIComponent(place.locator)}`)).text;
    if (field.value === place.text) field.value = place.whole;
  } catch (trouble) {
    tell("page", told(trouble));
  }
}

async function keep(event, place, field, state, before) {
  event.preventDefault();
  try {
    const typed = { locator: place.locator, text: field.value, before: place.whole ?? place.text };
    await ask("v1/corrections", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(typed) });
    place.whole = typed.text;
    state.textContent = say("kept");
    const rows = await ask(`v1/corrections?locator=${encodeURIComponent(place.locator)}`);
    before.replaceChildren(...rows.map((row) => made("li", {}, say("changes", row.who || "–", row.before, row.after))));
  } catch (trouble) {
    state.textContent = told(trouble);
  }
}
