// Draws a box around a thing that nobody found: by mouse, finger or keys. The service measures it like the others.
import { address, ask, jobIn, told } from "../api.js";
import { on, service, shown } from "../bus.js";
import { $, button, made, place } from "../dom.js";
import { reload, showPane } from "./opened.js";
import { keepCorrections } from "./photos.js";
import { say } from "../words.js";

const FIRST = [350, 350, 650, 650]; // where a box begins for those who use keys; thousandths of the picture
const MIN_SIDE = 10;
const STEP = 10;
const WAIT_S = 20; // proxies give up on a silent answer soon after
const OVER = ["done", "failed", "cancelled"];
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let drawing = null; // {box, node, layer, form}

export function startAddThing() {
  for (const event of ["opened", "page", "words"]) on(event, stop);
}

// Only photos of a job of their own: the service measures those again.
export const canAdd = () => Boolean(service.takesDocuments && jobIn(shown.name ?? "") && shown.row?.objects && !shown.row.failure);

export function toggleAdding() {
  if (drawing) stop();
  else start();
}

// What the detectors miss is what fails most: the question stands below the list, and its answer is one click away.
export function missingQuestion() {
  if (!canAdd()) return null;
  const begin = () => {
    showPane("page");
    if (!drawing) start();
  };
  return made("div", { class: "missing" }, made("p", {}, say("missing")), button(say("drawIt"), begin, { "data-act": "missing" }));
}

function start() {
  const sheet = $("#stage .sheet");
  if (!sheet) return;
  const node = made("div", { class: "drawn", tabindex: 0, role: "application", "aria-label": say("drawKeys"), onkeydown: keyed });
  const layer = made("div", { class: "drawing", onpointerdown: begun }, node);
  const form = formOf();
  drawing = { box: FIRST, node, layer, form };
  sheet.append(layer);
  $("#stage").before(form);
  show(FIRST);
  node.focus({ preventScroll: true });
}

function stop() {
  drawing?.layer.remove();
  drawing?.form.remove();
  drawing = null;
}

function formOf() {
  const labels = [...new Set([...shown.row.objects.map((thing) => thing.label), ...say("commonThings").split(", ")])];
  const known = made("datalist", { id: "known-things" }, labels.map((label) => made("option", { value: label })));
  const label = made("input", { type: "text", name: "label", required: true, maxlength: 80, autocomplete: "off", list: "known-things" });
  const acts = [made("button", { type: "submit" }, say("addThing")), button(say("leave"), leave, { class: "plain" })];
  return made("form", { class: "adding", onsubmit: sent, onkeydown: (event) => event.key === "Escape" && leave() },
    made("p", { class: "note" }, say("drawHow")), made("label", {}, made("span", {}, say("thing")), label), known, acts,
    made("p", { class: "drawn-at", role: "status" }), made("p", { class: "wrong", role: "alert" }));
}

function leave() {
  stop();
  $("#tools [data-act=draw]")?.focus();
}

// Draws the box, and says where it is to those who cannot see it.
function show(box) {
  drawing.box = box;
  place(drawing.node, box);
  const [x0, y0, x1, y1] = box.map((value) => Math.round(value / 10));
  drawing.form.querySelector(".drawn-at").textContent = say("drawnAt", x0, y0, x1 - x0, y1 - y0);
}

const within = (value) => Math.min(1000, Math.max(0, value));

function pointed(event) {
  const all = drawing.layer.getBoundingClientRect();
  return [within((1000 * (event.clientX - all.left)) / all.width), within((1000 * (event.clientY - all.top)) / all.height)];
}

function begun(event) {
  if (event.button !== 0 || !event.isPrimary) return;
  event.preventDefault();
  const layer = drawing.layer;
  const [x, y] = pointed(event);
  const moved = (move) => {
    const [to, down] = pointed(move);
    const box = [Math.min(x, to), Math.min(y, down), Math.max(x, to), Math.max(y, down)];
    if (box[2] - box[0] >= MIN_SIDE && box[3] - box[1] >= MIN_SIDE) show(box);
  };
  const ended = () => {
    layer.removeEventListener("pointermove", moved);
    if (drawing) drawing.form.elements.label.focus({ preventScroll: true });
  };
  layer.setPointerCapture(event.pointerId);
  layer.addEventListener("pointermove", moved);
  for (const end of ["pointerup", "pointercancel"]) layer.addEventListener(end, ended, { once: true });
}

// Arrows move the box, with Shift its lower right corner; Enter goes on to the name, Escape leaves.
function keyed(event) {
  const move = MOVES[event.key];
  if (event.key === "Enter") drawing.form.elements.label.focus();
  else if (event.key === "Escape") leave();
  else if (!move) return;
  else show(event.shiftKey ? grown(move) : shifted(move));
  event.preventDefault();
  event.stopPropagation();
}

function shifted([right, down]) {
  const [x0, y0, x1, y1] = drawing.box;
  const x = Math.min(1000 - x1, Math.max(-x0, right * STEP));
  const y = Math.min(1000 - y1, Math.max(-y0, down * STEP));
  return [x0 + x, y0 + y, x1 + x, y1 + y];
}

function grown([right, down]) {
  const [x0, y0, x1, y1] = drawing.box;
  return [x0, y0, within(Math.max(x0 + MIN_SIDE, x1 + right * STEP)), within(Math.max(y0 + MIN_SIDE, y1 + down * STEP))];
}

async function sent(event) {
  event.preventDefault();
  const form = event.target;
  const { name, page, row } = shown;
  const isShown = () => shown.name === name && shown.page === page;
  const box = drawing.box.map((value, side) => (value * (side % 2 ? row.height : row.width)) / 1000);
  const body = JSON.stringify({ boxes: [{ box, label: form.elements.label.value.trim() }] });
  for (const one of form.elements) one.disabled = true;
  form.querySelector(".wrong").textContent = "";
  Object.assign(form.querySelector(".drawn-at"), { textContent: say("measuring"), className: "drawn-at works" });
  try {
    await ask(address("boxes", name, page), { method: "POST", body, headers: { "Content-Type": "application/json" } });
    await over(jobIn(name));
    if (!isShown()) return;
    await reload(); // draws the page anew, and with it ends the drawing
    if (isShown()) keepCorrections(row.objects);
  } catch (trouble) {
    for (const one of form.elements) one.disabled = false;
    form.querySelector(".drawn-at").className = "drawn-at";
    form.querySelector(".wrong").textContent = told(trouble);
  }
}

async function over(job) {
  for (;;) {
    const state = await ask(`v1/jobs/${job}?wait=${WAIT_S}`);
    if (state.state === "done") return;
    if (OVER.includes(state.state)) throw new Error(state.error || say(state.state));
  }
}
