// The list of documents: kept up to date, opened by a click.
import { ask, ownName, told } from "../api.js";
import { on, shown, tell } from "../bus.js";
import { $, button, made } from "../dom.js";
import { plainName } from "../labels.js";
import { LongList } from "../long_list.js";
import { open } from "./opened.js";
import { say } from "../words.js";

const STEP = 500; // documents in the list before one asks for more
const LOOK_MS = 2000;
const ROW = 58; // pixels
const list = { rows: [], most: STEP, drawn: "", box: null, wanted: null };
const own = new Map(); // jobs with runs of their own: how far they were when they were asked, and their documents

export function startDocuments() {
  list.box = new LongList($("#names"), ROW, drawRow);
  for (const event of ["words", "opened"]) on(event, draw);
  on("progress", (job) => update(job.documents ?? []));
  on("documents", refresh);
  on("taken", (job) => (list.wanted = job));
  keepUp();
}

async function keepUp() {
  if (!document.hidden) await refresh();
  setTimeout(keepUp, LOOK_MS);
}

async function refresh() {
  try {
    list.rows = [...(await ownDocuments()), ...(await ask(`v1/documents?limit=${list.most + 1}`))];
    openWanted();
    sayState();
    drawNew();
    const mine = list.rows.find((one) => one.name === shown.name);
    if (mine && mine.done + mine.failed !== shown.parts.length) tell("moved");
  } catch (trouble) {
    $("#state").textContent = told(trouble);
  }
}

// Documents of jobs with runs of their own, latest first: files of an archive, files that are read another way.
async function ownDocuments() {
  const jobs = (await ask("v1/jobs")).filter((job) => job.kind === "parse" && !job.documents.length);
  for (const job of jobs) {
    const now = `${job.state} ${job.done} ${job.failed}`;
    if (own.get(job.id)?.now === now) continue;
    const found = await ask(`v1/jobs/${job.id}/documents`).catch(() => []);
    own.set(job.id, { now, rows: found.map((one) => ({ ...one, name: ownName(job.id, one.name) })) });
  }
  return jobs.flatMap((job) => own.get(job.id).rows);
}

function openWanted() {
  const first = list.wanted && own.get(list.wanted)?.rows[0];
  if (!first) return;
  list.wanted = null;
  open(first.name);
}

// Progress that an event told, before the next look.
function update(documents) {
  const news = new Map(documents.map((one) => [one.name, one]));
  list.rows = list.rows.map((row) => news.get(row.name) ?? row);
  sayState();
  drawNew();
  if (news.has(shown.name)) tell("moved");
}

function sayState() {
  const busy = list.rows.filter((one) => !one.ready).length;
  const words = shown.trouble || (busy ? say("busy", busy) : "");
  if ($("#state").textContent !== words) $("#state").textContent = words;
  $("#none").hidden = list.rows.length > 0;
}

function drawNew() {
  const now = JSON.stringify(list.rows);
  if (now !== list.drawn) draw();
  list.drawn = now;
}

function draw() {
  list.box.set(Math.min(list.rows.length, list.most) + (list.rows.length > list.most ? 1 : 0));
}

function drawRow(number) {
  if (number === list.most) return button(say("more"), more, { class: "row" });
  const one = list.rows[number];
  const row = button("", () => open(one.name), { class: "row", "aria-current": one.name === shown.name ? "true" : null });
  row.append(made("span", { class: "name", title: plainName(one.name) }, plainName(one.name)));
  row.append(made("small", { class: one.failed ? "bad" : null }, progress(one)));
  if (!one.ready) row.append(bar(one));
  return row;
}

function bar(one) {
  const inside = made("i");
  inside.style.width = `${one.pages ? (100 * (one.done + one.failed)) / one.pages : 0}%`;
  return made("span", { class: "bar", "aria-hidden": "true" }, inside);
}

function more() {
  list.most += STEP;
  refresh();
}

function progress(one) {
  if (one.pages === null) return say("waiting");
  const count = one.ready ? (one.pages === 1 ? say("onePage") : say("pages", one.pages)) : say("progress", one.done + one.failed, one.pages);
  return one.failed ? `${count} · ${say("failedPages", one.failed)}` : count;
}
