// Things in a photo: outlines over the picture, sizes in a table, corrections that the total follows.
import { save } from "../api.js";
import { on, point, pointAway, shown, tell } from "../bus.js";
import { button, made } from "../dom.js";
import { missingQuestion } from "./add_thing.js";
import { cloudButton } from "./cloud.js";
import { showFile } from "../files.js";
import { plainName } from "../labels.js";
import { say } from "../words.js";

const SIDES = ["width", "depth", "height"];
export const HUES = 8; // colours of outlines, in colours.css
const FOUND_TWICE = "found twice, counted once"; // as photos/notes.py says it

let redrawShown = () => {};

export function startPhotos() {
  on("things", () => redrawShown());
  on("light", ({ index }) => {
    for (const node of document.querySelectorAll(".mask")) node.classList.toggle("lit", node.dataset.of === String(index));
  });
}

// An outline is a one-bit picture as large as the photo: a mask for a coloured layer.
export function drawMasks(sheet, row) {
  for (const thing of (row.objects ?? []).filter((one) => one.mask)) {
    const layer = made("span", { class: `mask hue-${thing.index % HUES}`, "data-of": thing.index });
    const image = new Image();
    image.onload = () => (layer.style.maskImage = `url("${image.src}")`);
    showFile(image, thing.mask);
    sheet.append(layer);
  }
}

// Corrections are kept in this tab, by document and page: {index: {label, size_m, counted}}.
const place = () => `penstock-things ${shown.name} ${shown.page}`;
const corrections = () => JSON.parse(sessionStorage.getItem(place()) ?? "{}");

function correct(index, change) {
  const all = corrections();
  all[index] = { ...all[index], ...change };
  sessionStorage.setItem(place(), JSON.stringify(all));
}

// Things that are measured again have other numbers: a correction goes to the thing that is where its own was.
export function keepCorrections(before) {
  const old = corrections();
  const now = {};
  for (const [index, change] of Object.entries(old)) {
    const one = before.find((thing) => String(thing.index) === index);
    const found = one && shown.row.objects.find((thing) => overlap(thing.box, one.box) > 0.5);
    if (found) now[found.index] = change;
  }
  if (Object.keys(old).length) sessionStorage.setItem(place(), JSON.stringify(now));
  tell("things");
}

// How much of what two boxes cover they share.
function overlap(a, b) {
  const area = ([x0, y0, x1, y1]) => Math.max(0, x1 - x0) * Math.max(0, y1 - y0);
  const shared = area([Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])]);
  return shared / (area(a) + area(b) - shared || 1);
}

const withChange = (thing, change) => {
  const now = { ...thing, ...change };
  if (change?.size_m) now.bbox_cbm = SIDES.reduce((product, side) => product * now.size_m[side], 1);
  return now;
};

export function drawThings(row) {
  const box = made("section", { class: "things", "aria-label": say("things") });
  const redraw = () => {
    const changes = corrections();
    const things = row.objects.map((thing) => withChange(thing, changes[thing.index]));
    const list = things.length ? tableOfThings(row, things, changes, redraw) : made("p", { class: "note" }, say("noThings"));
    box.replaceChildren(list, missingQuestion() ?? "", things.length ? notes(things, changes, redraw) : "");
  };
  redraw();
  redrawShown = redraw;
  return box;
}

function tableOfThings(row, things, changes, redraw) {
  const heads = ["thing", ...SIDES, "volume"].map((word) => made("th", { scope: "col" }, say(word)));
  heads.unshift(made("th", { scope: "col", "aria-label": say("counted"), title: say("counted") }, "✓"));
  const body = made("tbody", {}, things.map((thing) => line(thing, redraw)));
  const table = made("table", {}, made("caption", {}, `${say("things")} (${say("metres")})`), made("thead", {}, made("tr", {}, heads)), body, foot(row, things, changes));
  return made("div", { class: "wide", tabindex: 0, role: "region", "aria-label": say("things") }, table);
}

function line(thing, redraw) {
  const name = field(thing.label, `${say("thing")} ${thing.index + 1}`, "text", (label) => correct(thing.index, { label }), redraw);
  const sides = SIDES.map((side) => made("td", {}, sideField(thing, side, redraw)));
  const counts = made("input", { type: "checkbox", checked: thing.counted, "aria-label": `${say("counted")}: ${thing.label}`,
    onchange: (event) => (correct(thing.index, { counted: event.target.checked }), redraw()) });
  const range = thing.failure ? thing.failure.message : thing.range_cbm?.[0] == null ? "" : between(thing.range_cbm, thing.unsure);
  const twice = thing.measurement_notes?.includes(FOUND_TWICE) ? made("small", { class: "note" }, say("foundTwice")) : null;
  return made("tr", { "data-index": thing.index, class: thing.failure ? "bad" : null, onpointerenter: () => point(thing.index, "text"), onpointerleave: pointAway },
    made("td", { class: `hue-${thing.index % HUES}` }, counts), made("th", { scope: "row" }, name, twice), sides, made("td", { class: "number" }, short(thing.bbox_cbm), made("small", {}, range), thing.ply ? cloudButton(thing) : null));
}

function sideField(thing, side, redraw) {
  if (!thing.size_m) return "–";
  const keep = (words) => {
    const metres = Number(words);
    if (metres > 0 && metres < 100) correct(thing.index, { size_m: { ...thing.size_m, [side]: metres } });
  };
  return field(thing.size_m[side].toFixed(2), `${say(side)}: ${thing.label}`, "number", keep, redraw);
}

function field(value, label, type, keep, redraw) {
  const numbers = type === "number" ? { min: "0.01", max: "99", step: "0.01" } : { maxlength: "80" };
  const onchange = (event) => {
    const number = [...event.target.closest("table").querySelectorAll("input")].indexOf(event.target);
    const table = event.target.closest("section");
    keep(event.target.value);
    redraw();
    table.querySelectorAll("input")[number]?.focus();
  };
  return made("input", { type, value, "aria-label": label, onchange, ...numbers });
}

function foot(row, things, changes) {
  const isChanged = Object.keys(changes).length > 0;
  // the range of a sum is the service's to know: things of a photo share their camera's error
  const range = isChanged || !row.total ? "" : between([row.total.low, row.total.high], row.total.unsure);
  return made("tfoot", {}, made("tr", {}, made("th", { scope: "row", colspan: 2 }, say("total")),
    made("td", { class: "sum", colspan: 4 }, made("strong", { id: "total" }, short(totalOf(row, things, changes))), " m³ ", made("small", {}, range))));
}

// A total is more than the sum of things that may well be larger: what was not corrected keeps that ratio.
function totalOf(row, things, changes) {
  const sum = (list) => list.filter((one) => one.counted).reduce((total, one) => total + (one.bbox_cbm ?? 0), 0);
  const measured = sum(row.objects);
  const ratio = row.total && measured ? row.total.cbm / measured : 1;
  const isTyped = (one) => Boolean(changes[one.index]?.size_m);
  return sum(things.filter(isTyped)) + ratio * sum(things.filter((one) => !isTyped(one)));
}

const between = (ends, unsure) => [ends.map(short).join("–"), unsure ? made("em", {}, say("unsure")) : null];

function notes(things, changes, redraw) {
  const box = made("div", { class: "acts" }, button(say("table"), () => csv(things), { class: "plain" }));
  if (Object.keys(changes).length) {
    const reset = () => (sessionStorage.removeItem(place()), redraw());
    box.append(button(say("reset"), reset, { class: "plain" }), made("p", { class: "note", role: "status" }, say("corrected")));
  }
  return box;
}

function csv(things) {
  const rows = [["thing", ...SIDES.map((side) => `${side}_m`), "cbm", "counted"]];
  for (const one of things) rows.push([one.label, ...SIDES.map((side) => one.size_m?.[side] ?? ""), one.bbox_cbm ?? "", one.counted]);
  const words = rows.map((row) => row.map(cell).join(",")).join("\r\n");
  save(new Blob(["\ufeff" + words], { type: "text/csv" }), plainName(shown.name) + ".csv");
}

// A label that begins like a formula would run in a spreadsheet.
function cell(value) {
  const words = String(value).replace(/^[=+\-@\t\r]/, "'$&");
  return `"${words.replaceAll('"', '""')}"`;
}

const short = (number) => (number === null || number === undefined ? "–" : number.toFixed(number < 0.1 ? 3 : 2));
