// Search: hits with a small picture, the place and the words that answer. A click lights the box.
import { ask, told } from "../api.js";
import { on } from "../bus.js";
import { $, button, made, place } from "../dom.js";
import { plainLabel, plainName } from "../labels.js";
import { open, showView } from "./opened.js";
import { thumbnail } from "./thumbnails.js";
import { say } from "../words.js";

const TOP = 20;
const found = { question: "", hits: null, trouble: "" };

export function startSearch() {
  $("#ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = $("#question").value.trim();
    if (question) search(question);
  });
  on("words", draw);
}

async function search(question) {
  Object.assign(found, { question, hits: null, trouble: "" });
  showView("search");
  draw();
  try {
    const hits = await ask(`v1/search?top=${TOP}&q=${encodeURIComponent(question)}`);
    if (question === found.question) found.hits = hits;
  } catch (trouble) {
    if (question === found.question) found.trouble = told(trouble);
  }
  draw();
}

function draw() {
  const box = $("#search");
  const isBusy = !found.hits && !found.trouble && found.question;
  box.setAttribute("aria-busy", String(Boolean(isBusy)));
  const words = found.trouble || (isBusy ? say("searching") : counted(found.hits?.length ?? 0));
  const head = made("p", { class: isBusy ? "note works" : "note", role: "status" }, words);
  box.replaceChildren(made("h2", {}, found.question), head, made("ol", { class: "hits" }, (found.hits ?? []).map(drawHit)));
}

const counted = (count) => (count > 1 ? say("hits", count) : say(count ? "oneHit" : "nothing"));

function drawHit(hit) {
  const name = plainName(hit.document);
  const { node } = thumbnail(hit.document, hit.page);
  if (hit.box) {
    const mark = made("i", { class: "mark" });
    place(mark, hit.box);
    node.append(mark);
  }
  const title = made("span", { class: "from" }, `${name} · ${hit.page}`);
  const under = made("small", {}, [hit.section, hit.label && plainLabel(hit.label)].filter(Boolean).join(" · "));
  const one = button("", () => open(hit.document, hit.page, hit), { class: "found", "aria-label": `${name}, ${say("toPage", hit.page)}` });
  one.append(node, made("span", { class: "words" }, title, under, marked(hit.snippet)));
  return made("li", {}, one);
}

// **Words** that were asked for stand out.
function marked(snippet) {
  const line = made("span", { class: "snippet" });
  snippet.split("**").forEach((piece, number) => line.append(number % 2 ? made("mark", {}, piece) : piece));
  return line;
}
