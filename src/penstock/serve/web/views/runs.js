// What is being read and what became of it: stages, jobs, failures.
import { ask, download, ownName, query, told } from "../api.js";
import { on, service } from "../bus.js";
import { $, button, made } from "../dom.js";
import { plainName } from "../labels.js";
import { open } from "./opened.js";
import { watch } from "./sending.js";
import { say } from "../words.js";

const LOOK_MS = 1500;
const now = { run: null, jobs: [], failures: [], drawn: "" };

export function startRuns() {
  on("view", (name) => name === "runs" && keepUp());
  on("words", () => {
    now.drawn = "";
    draw();
  });
}

const isShown = () => document.body.dataset.view === "runs";

async function keepUp() {
  while (isShown()) {
    if (!document.hidden) await refresh();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function refresh() {
  try {
    const [run, jobs, failures] = await Promise.all([ask("v1/run").catch(() => null), ask("v1/jobs"), ask("v1/failures").catch(() => [])]);
    Object.assign(now, { run, jobs, failures });
    draw();
  } catch (trouble) {
    $("#state").textContent = told(trouble);
  }
}

function draw() {
  const fresh = JSON.stringify([now.run, now.jobs, now.failures]);
  if (!isShown() || fresh === now.drawn || $("#runs").contains(document.activeElement?.closest("summary, button"))) return; // what has the focus stays
  now.drawn = fresh;
  $("#runs").replaceChildren(drawRun(), drawJobs(), drawFailures());
}

const part = (title, ...content) => made("section", { class: "card" }, made("h2", {}, say(title)), content);

function drawRun() {
  const run = now.run;
  if (!run?.stages.length) return part("stages", made("p", { class: "note" }, say("idle")));
  const heads = ["stage", "now", "done", "busyShare", "starved", "blocked"].map((word) => made("th", { scope: "col" }, say(word)));
  const table = made("table", {}, made("thead", {}, made("tr", {}, heads)), made("tbody", {}, run.stages.map((stage) => stageLine(stage, run.bottleneck))));
  return part("stages", made("p", { class: "finding" }, run.finding), run.advice ? made("p", { class: "note" }, run.advice) : null,
    made("div", { class: "wide", tabindex: 0, role: "region", "aria-label": say("stages") }, table));
}

function stageLine(stage, bottleneck) {
  const shares = ["busy", "starved", "blocked"].map((name) => made("td", {}, meter(stage[name], name)));
  return made("tr", { class: stage.name === bottleneck ? "narrow" : null }, made("th", { scope: "row" }, stage.name),
    made("td", {}, say("queue", stage.waiting, stage.running)), made("td", { class: "number" }, String(stage.done)), shares);
}

function meter(share, name) {
  const inside = made("i", { class: name });
  inside.style.width = `${Math.round(share * 100)}%`;
  return made("span", { class: "meter" }, made("span", { "aria-hidden": "true" }, inside), `${Math.round(share * 100)} %`);
}

function drawJobs() {
  if (!now.jobs.length) return part("jobs", made("p", { class: "note" }, say("noJobs")));
  return part("jobs", made("ul", { class: "rows" }, now.jobs.map(drawJob)));
}

function drawJob(job) {
  const isOver = ["done", "failed", "cancelled"].includes(job.state);
  const count = [job.pages ? say("progress", job.done + job.failed, job.pages) : "", job.failed ? say("failedPages", job.failed) : ""];
  const acts = [isOver ? null : act("cancel", `v1/jobs/${job.id}/cancel`, "POST"), isOver && service.takesDocuments ? act("remove", `v1/jobs/${job.id}`, "DELETE", "sureRemove") : null];
  const results = job.done ? job.results.map((format) => button(format, () => fetched(job, format))) : [];
  const names = job.documents.length
    ? job.documents.map((one) => button(plainName(one.name), () => open(one.name), { class: "link" }))
    : job.files.map((file, number) => (job.done ? button(file, () => openOwn(job, number), { class: "link" }) : made("span", {}, file)));
  return made("li", { class: job.state === "failed" ? "bad" : null }, made("div", { class: "what" }, names, job.error ? made("p", { class: "wrong" }, job.error) : null),
    made("span", { class: `is ${job.state}` }, say(job.state)), made("small", {}, count.filter(Boolean).join(" · ")),
    made("small", {}, made("time", { datetime: job.finished ?? job.created }, new Date(job.finished ?? job.created).toLocaleString(document.documentElement.lang))),
    results.length ? made("details", { class: "downloads" }, made("summary", { class: "plain" }, say("download")), made("div", { class: "menu" }, results)) : null, acts);
}

// A job with a run of its own says by itself which documents it has.
async function openOwn(job, number) {
  const documents = await ask(`v1/jobs/${job.id}/documents`).catch(() => []);
  const one = documents.find((each) => each.name === job.files[number]) ?? documents[number] ?? documents[0];
  if (one) open(ownName(job.id, one.name));
}

const fetched = (job, format) => download(`v1/jobs/${job.id}/result?format=${format}`).catch((trouble) => ($("#state").textContent = told(trouble)));

function act(word, path, method, question) {
  return button(say(word), async (event) => {
    if (question && !confirm(say(question))) return;
    event.target.blur();
    await ask(path, { method }).catch(() => {}); // a deletion answers with nothing
    now.drawn = "";
    refresh();
  }, { class: "plain" });
}

function drawFailures() {
  if (!now.failures.length) return part("failures", made("p", { class: "note" }, say("noFailures")));
  return part("failures", made("ul", { class: "rows" }, now.failures.map(drawFailure)));
}

function drawFailure(failure) {
  const again = service.takesDocuments && failure.can_try_again ? button(say("again"), (event) => tryAgain(event.target, failure.document), { class: "plain" }) : null;
  return made("li", { class: "bad" }, made("div", { class: "what" }, button(`${plainName(failure.document)} · ${failure.page}`, () => open(failure.document, failure.page), { class: "link" }),
    made("p", {}, `${failure.part ? `${failure.part}: ` : ""}${failure.message} ${failure.advice}`)), made("small", {}, failure.stage), again);
}

async function tryAgain(one, name) {
  one.blur();
  try {
    const taken = await ask("v1/retry?" + query(name), { method: "POST" });
    if (taken.job) watch(taken.job);
    $("#state").textContent = say("againSent");
  } catch (trouble) {
    $("#state").textContent = told(trouble);
  }
  now.drawn = "";
  refresh();
}
