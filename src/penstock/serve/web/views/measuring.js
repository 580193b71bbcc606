// Photos that are measured: how far they are, their results as soon as they are there, and the way between them.
import { ask, jobIn, ownName, told } from "../api.js";
import { on, shown, tell } from "../bus.js";
import { $, button, made } from "../dom.js";
import { plainName } from "../labels.js";
import { open, showPane, showView } from "./opened.js";
import { say } from "../words.js";

let job = null; // the row of the job that is waited for

export function startMeasuring() {
  on("progress", (row) => row.id === job?.id && follow(row));
  on("opened", opened);
  on("words", draw);
}

export function showMeasuring(row) {
  Object.assign(shown, { name: null, page: 1, parts: [], pages: null, row: null, hit: null, chosen: null });
  job = row;
  showView("documents");
  showPane("page");
  tell("opened");
  tell("page");
  draw();
}

async function follow(row) {
  job = row;
  if (!row.done || row.state !== "done") return draw();
  const [first] = await ask(`v1/jobs/${row.id}/documents`).catch(() => []);
  if (first && job?.id === row.id) open(ownName(row.id, first.name));
}

function draw() {
  if (!job || shown.name) return;
  const count = job.pages ?? job.files.length;
  const done = job.done + job.failed;
  const isOver = ["done", "failed", "cancelled"].includes(job.state);
  const words = isOver ? job.error || say(job.state) : say("measuringPhotos", done, count);
  const bar = made("progress", { max: count, value: done, "aria-label": words });
  $("#hello").hidden = true;
  $("#stage").replaceChildren(made("div", { class: "measuring", role: "status" }, made("p", {}, words), isOver ? null : bar, made("small", {}, job.files.join(", "))));
}

// The photos of one job lie beside each other: one click leads from each to the next.
async function opened() {
  const nav = $("#photos");
  const id = jobIn(shown.name ?? "");
  if (shown.name) job = null;
  nav.hidden = true;
  if (!id) return;
  try {
    const all = await ask(`v1/jobs/${id}/documents`);
    if (jobIn(shown.name ?? "") !== id) return;
    nav.replaceChildren(...all.map((one) => photoButton(ownName(id, one.name))));
    nav.hidden = all.length < 2;
  } catch (trouble) {
    $("#state").textContent = told(trouble);
  }
}

const photoButton = (name) => button(plainName(name), () => open(name), { class: "chip", "aria-current": name === shown.name ? "true" : null });
