// Sends files: dropped or chosen. Watches the jobs, so that pages appear as they finish.
import { ask, events, query, told } from "../api.js";
import { shown, tell } from "../bus.js";
import { $ } from "../dom.js";
import { showMeasuring } from "./measuring.js";
import { open } from "./opened.js";

const HOLDS_SEVERAL = /\.(zip|tar|tgz|tar\.gz|warc|warc\.gz|wacz|eml|msg)$/i;
const OFFICE = /\.(docx?|pptx?|xlsx?|xlsm|od[tsp]|rtf|hwpx?)$/i;
const watched = []; // jobs that wait for being watched; one stream is open at a time, a browser has few connections
let isWatching = false;

export function startSending() {
  const drop = $("#drop");
  drop.querySelector("input").addEventListener("change", (event) => send([...event.target.files]));
  for (const kind of ["dragover", "dragleave", "drop"]) addEventListener(kind, (event) => dragged(event, kind));
}

// Files may be dropped anywhere in the window.
function dragged(event, kind) {
  const drop = $("#drop");
  if (drop.hidden || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  drop.classList.toggle("over", kind === "dragover");
  if (kind === "drop") send([...event.dataTransfer.files]);
}

async function send(files) {
  shown.trouble = "";
  if ($("#measure input").checked) await measure(files);
  else await read(files);
  $("#drop input").value = ""; // or the same file could not be chosen again
  tell("documents");
}

// Photos whose things are measured: one job with a run of its own, as they may show one room.
async function measure(files) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  $("#state").textContent = `↑ ${files.map((file) => file.name).join(", ")}`;
  try {
    const job = await ask("v1/volumes", { method: "POST", body: form });
    showMeasuring(job);
    watch(job.id);
  } catch (trouble) {
    shown.trouble = told(trouble);
  }
}

// What holds documents, and what is read another way than others, is a job with a run of its own.
function sendAlone(file, chosen) {
  const form = new FormData();
  for (const [name, value] of Object.entries(chosen)) form.append(name, value);
  form.append("files", file, file.name);
  return ask("v1/parse", { method: "POST", body: form });
}

async function read(files) {
  let first = true;
  const office = $("#office select").value;
  const chosen = office ? { office } : {};
  for (const file of files) {
    $("#state").textContent = `↑ ${file.name}`;
    try {
      const job = HOLDS_SEVERAL.test(file.name) || (chosen.office && OFFICE.test(file.name)) ? await sendAlone(file, chosen) : null;
      const taken = job ?? await ask("v1/documents?" + query(file.name), { method: "POST", body: file });
      tell("documents");
      watch(job?.id ?? taken.job);
      if (first) job ? tell("taken", job.id) : open(taken.name);
      first = false;
    } catch (trouble) {
      shown.trouble = `${file.name}: ${told(trouble)}`;
    }
  }
}

export function watch(job) {
  watched.push(job);
  if (!isWatching) watchAll();
}

async function watchAll() {
  isWatching = true;
  while (watched.length) {
    try {
      for await (const [, row] of events(`v1/jobs/${watched.shift()}/events`)) tell("progress", row);
    } catch {
      // the list is looked at every few seconds anyway
    }
  }
  isWatching = false;
}
