// The page's picture with its boxes: turned, zoomed, filtered by kinds.
import { address } from "../api.js";
import { on, shown } from "../bus.js";
import { canAdd, toggleAdding } from "./add_thing.js";
import { drawBoxes } from "./boxes.js";
import { $, button, made } from "../dom.js";
import { drawChips } from "./kinds.js";
import { showView, turn } from "./opened.js";
import { showPicture } from "../pictures.js";
import { drawMasks } from "./photos.js";
import { say } from "../words.js";

const ZOOMS = [0.5, 0.75, 1, 1.5, 2, 3, 4];
const SHARP = 1.5; // from here on the picture is asked for as large as it is
const look = { zoom: 1 };
let cancel = () => {};

export function startPageView() {
  for (const event of ["opened", "parts", "service", "words"]) on(event, drawTools);
  on("page", draw);
  on("words", draw);
  $("#stage").addEventListener("wheel", wheel, { passive: false });
  addEventListener("keydown", (event) => {
    const isFree = !event.target.closest("input, textarea, select, dialog, #boxes, .drawing, [contenteditable]") && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (isFree && document.body.dataset.view === "documents" && shown.name) keyed(event.key);
  });
}

function keyed(key) {
  const acts = { ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), "+": () => zoom(1), "-": () => zoom(-1) };
  acts[key]?.();
}

function drawTools() {
  const tools = $("#tools");
  tools.hidden = !shown.name;
  if (!shown.name) return;
  const last = Math.max(shown.pages ?? 0, shown.parts.at(-1)?.page ?? 0) || "…";
  const words = say("place", shown.page, last);
  const drawn = words + Boolean(shown.hit) + canAdd();
  if (tools.dataset.drawn === drawn) return; // a button drawn anew would lose a click
  tools.dataset.drawn = drawn;
  const focused = tools.contains(document.activeElement) ? document.activeElement.dataset.act : null;
  const toHits = shown.hit ? button(say("toHits"), () => showView("search"), { class: "plain", "data-act": "hits" }) : "";
  tools.replaceChildren(
    toHits, tool("back", "←", () => turn(-1)), made("span", { class: "where" }, words), tool("on", "→", () => turn(1)),
    made("span", { class: "space" }), canAdd() ? tool("draw", "⬚+", toggleAdding) : "",
    tool("smaller", "−", () => zoom(-1)), made("span", { id: "zoom" }, `${Math.round(look.zoom * 100)} %`), tool("larger", "+", () => zoom(1)),
  );
  if (focused) tools.querySelector(`[data-act=${focused}]`)?.focus();
}

const tool = (name, sign, act) => button(sign, act, { class: "tool", "data-act": name, "aria-label": say(name), title: say(name) });

function draw(trouble) {
  $("#hello").hidden = Boolean(shown.name);
  drawTools();
  cancel();
  const stage = $("#stage");
  const row = shown.row;
  if (!row) {
    $("#chips").hidden = true;
    stage.replaceChildren(made("p", { class: "note" }, shown.name ? trouble ?? say("notRead") : ""));
    return;
  }
  const image = made("img", { alt: say("place", shown.page, shown.pages ?? shown.page), class: "sheet-picture", draggable: "false" });
  const sheet = made("div", { class: "sheet" }, image);
  if (row.width && row.height) sheet.style.aspectRatio = `${row.width} / ${row.height}`;
  stage.replaceChildren(sheet);
  scale();
  load(image, sheet);
  drawMasks(sheet, row);
  sheet.append(drawBoxes(row));
  drawChips(row);
}

function load(image, sheet) {
  const size = look.zoom >= SHARP ? "&side=4000" : "";
  cancel = showPicture(image, address("picture", shown.name, shown.page, `&boxes=false${size}`), () => {
    image.remove();
    sheet.classList.add("none");
    if (!shown.row?.failure) sheet.prepend(made("p", { class: "note" }, say("noPicture")));
  });
}

function zoom(step) {
  const stage = $("#stage");
  const middle = [(stage.scrollLeft + stage.clientWidth / 2) / stage.scrollWidth, (stage.scrollTop + stage.clientHeight / 2) / stage.scrollHeight];
  const before = look.zoom;
  look.zoom = ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.indexOf(look.zoom) + step))];
  scale();
  stage.scrollLeft = middle[0] * stage.scrollWidth - stage.clientWidth / 2;
  stage.scrollTop = middle[1] * stage.scrollHeight - stage.clientHeight / 2;
  $("#zoom").textContent = `${Math.round(look.zoom * 100)} %`;
  const image = stage.querySelector(".sheet-picture");
  if (image && before < SHARP && look.zoom >= SHARP) load(image, stage.querySelector(".sheet"));
}

function scale() {
  const sheet = $("#stage").querySelector(".sheet");
  if (sheet) sheet.style.width = `${look.zoom * 100}%`;
}

function wheel(event) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1 : -1);
}
