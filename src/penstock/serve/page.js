// The web page: documents on the left, a page's picture in the middle, what it says on the right.
// Content of documents only ever becomes text nodes: a hostile page stays text.
"use strict";

const WORDS = {
  en: {
    search: "Search pages", drop: "Drop documents here, or choose", reading: "reading", of: "of", pages: "pages", failed: "failed",
    waiting: "waiting", hello: "Choose a document.", nothing: "Nothing was found.", markdown: "Markdown", gone: "The service does not answer.", more: "More",
    open: "Other machines reach this page, and there is no login.",
  },
  ko: {
    search: "쪽 찾기", drop: "문서를 여기에 놓거나 고르세요", reading: "읽는 중", of: "/", pages: "쪽", failed: "실패",
    waiting: "대기", hello: "문서를 고르세요.", nothing: "찾은 것이 없습니다.", markdown: "Markdown", gone: "서비스가 응답하지 않습니다.", more: "더 보기",
    open: "다른 컴퓨터에서도 이 페이지에 들어올 수 있고 로그인이 없습니다.",
  },
};
const language = navigator.language.startsWith("ko") ? "ko" : "en";
const say = WORDS[language];
const $ = (selector) => document.querySelector(selector);
const STEP = 200; // documents in the list before one asks for more
const shown = { name: null, page: 1, parts: [], most: STEP, list: "", trouble: "" };

document.documentElement.lang = language;
$("#ask input").placeholder = say.search;
$("#drop span").textContent = say.drop;
$("#hello").textContent = say.hello;

async function ask(path, options) {
  const answer = await fetch(path, options);
  const body = await answer.json();
  if (!answer.ok) throw new Error([body.error, body.advice].filter(Boolean).join(" "));
  return body;
}

function made(tag, text, parent) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

const query = (name, page) => `name=${encodeURIComponent(name)}` + (page ? `&page=${page}` : "");

async function refresh() {
  try {
    drawList(await ask(`v1/documents?most=${shown.most + 1}`));
  } catch (trouble) {
    $("#state").textContent = told(trouble);
  }
}

const told = (trouble) => (trouble instanceof TypeError ? say.gone : trouble.message);

function drawList(documents) {
  const busy = documents.filter((one) => !one.ready);
  $("#state").textContent = shown.trouble || (busy.length ? `${say.reading}: ${busy.length}` : "");
  if (busy.some((one) => one.name === shown.name)) loadParts().catch(() => {});
  const list = JSON.stringify([documents, shown.name]);
  if (list === shown.list) return; // drawn anew, it would take the focus away
  shown.list = list;
  const box = $("#documents");
  box.replaceChildren();
  for (const one of documents.slice(0, shown.most)) {
    const button = made("button", one.name.replace(/^[0-9a-f]{16}\//, ""), box);
    made("br", "", button);
    made("small", progress(one), button);
    button.setAttribute("aria-current", one.name === shown.name);
    button.onclick = () => open(one.name, 1);
  }
  if (documents.length > shown.most) made("button", say.more, box).onclick = more;
}

function more() {
  shown.most += STEP;
  refresh();
}

function progress(one) {
  if (one.pages === null) return say.waiting;
  const failed = one.failed ? `, ${one.failed} ${say.failed}` : "";
  return one.ready ? `${one.pages} ${say.pages}${failed}` : `${one.done + one.failed} ${say.of} ${one.pages}${failed}`;
}

async function open(name, page) {
  Object.assign(shown, { name, page, parts: [], trouble: "" });
  try {
    await loadParts();
  } catch (trouble) {
    $("#text").replaceChildren(made("p", told(trouble)));
    return;
  }
  if (!shown.parts.length) show(); // nothing is read yet: that is said
  refresh();
}

async function loadParts() {
  const name = shown.name;
  const state = await ask("v1/document?" + query(name));
  if (name !== shown.name) return; // another one was chosen meanwhile
  const first = shown.parts.length === 0;
  shown.parts = state.parts.map((part) => part.page);
  if (first && shown.parts.length) show();
}

async function show() {
  const { name, page } = shown;
  history.replaceState(null, "", "#" + query(name, page));
  $("#hello").hidden = true;
  $("#turn").hidden = false;
  $("#place").textContent = `${page} ${say.of} ${shown.parts.at(-1) ?? "…"}`;
  const image = $("#picture img");
  image.hidden = false;
  image.src = "v1/picture?" + query(name, page);
  image.onerror = () => (image.hidden = true);
  try {
    const row = await ask("v1/page?" + query(name, page));
    if (name === shown.name && page === shown.page) drawText(row);
  } catch (trouble) {
    $("#text").replaceChildren(made("p", told(trouble)));
  }
}

function drawText(row) {
  const box = $("#text");
  box.replaceChildren();
  if (row.regions.length) {
    const link = made("a", say.markdown, made("p", "", box));
    link.href = "v1/markdown?" + query(shown.name);
  }
  if (row.failure) part(box, row.failure.stage, `${row.failure.message} ${row.failure.advice}`, true);
  for (const region of row.regions) drawRegion(box, region);
  for (const thing of row.objects ?? []) drawThing(box, thing);
}

function drawThing(box, thing) {
  const size = thing.size_m && `${thing.size_m.width} × ${thing.size_m.depth} × ${thing.size_m.height} m`;
  const volume = thing.bbox_cbm && `${thing.bbox_cbm} m³ (${thing.range_cbm.join("–")})`;
  const words = thing.failure ? [thing.failure.message] : [size, volume, thing.note];
  const section = part(box, `${thing.index} ${thing.label}`, words.filter(Boolean).join("\n"), Boolean(thing.failure));
  for (const kept of ["ply", "glb"]) {
    if (!thing[kept]) continue;
    const link = made("a", kept.toUpperCase(), made("div", "", section));
    link.href = "v1/file/" + thing[kept];
  }
}

function drawRegion(box, region) {
  const sure = region.confidence === null ? "" : ` · ${Math.round(region.confidence * 100)} %`;
  const words = region.failure ? region.failure.message : region.content ?? region.note ?? "";
  const said = region.label === "table" && !region.failure ? tableOf(words) : null;
  const section = part(box, `${region.index} ${region.label}${sure}`, said ?? words, Boolean(region.failure));
  if (region.crop && !region.content) {
    const picture = made("img", "", section);
    picture.alt = region.label;
    picture.loading = "lazy";
    picture.src = "v1/file/" + region.crop;
  }
}

function part(box, title, words, bad) {
  const section = made("section", "", box);
  section.classList.toggle("bad", bad);
  made("small", title, section);
  section.append(words);
  return section;
}

// A table built anew from the cells of the one in `html`; null where there is none.
function tableOf(html) {
  const found = new DOMParser().parseFromString(html, "text/html").querySelector("table");
  if (!found) return null;
  const table = document.createElement("table");
  for (const row of found.rows) {
    const line = made("tr", "", table);
    for (const cell of row.cells) {
      const copy = made(cell.localName, cell.textContent, line);
      copy.colSpan = cell.colSpan;
      copy.rowSpan = cell.rowSpan;
    }
  }
  return table;
}

function turn(step) {
  const place = shown.parts.indexOf(shown.page) + step;
  if (place < 0 || place >= shown.parts.length) return;
  shown.page = shown.parts[place];
  show();
}

async function search(question) {
  const box = $("#text");
  try {
    const hits = await ask("v1/search?q=" + encodeURIComponent(question));
    box.replaceChildren();
    if (!hits.length) made("p", say.nothing, box);
    for (const hit of hits) {
      const where = `${hit.document} ${hit.page}${hit.section ? " · " + hit.section : ""}`;
      const section = part(box, where, marked(hit.snippet), false);
      section.classList.add("hit");
      section.tabIndex = 0;
      section.onclick = () => open(hit.document, hit.page);
      section.onkeydown = (event) => event.key === "Enter" && section.onclick();
    }
  } catch (trouble) {
    box.replaceChildren(made("p", told(trouble)));
  }
}

// **words** that were asked for, in bold.
function marked(snippet) {
  const line = document.createElement("span");
  snippet.split("**").forEach((piece, n) => line.append(n % 2 ? made("b", piece) : piece));
  return line;
}

async function send(files) {
  shown.trouble = "";
  for (const file of files) {
    $("#state").textContent = file.name;
    try {
      await ask("v1/documents?" + query(file.name), { method: "POST", body: file });
    } catch (trouble) {
      shown.trouble = `${file.name}: ${told(trouble)}`;
    }
  }
  $("#drop input").value = ""; // or the same file could not be chosen again
  refresh();
}

$("#ask").onsubmit = (event) => {
  event.preventDefault();
  const question = $("#ask input").value.trim();
  if (question) search(question);
};
$("#back").onclick = () => turn(-1);
$("#on").onclick = () => turn(1);
$("#drop input").onchange = (event) => send(event.target.files);
$("#drop").ondragover = (event) => { event.preventDefault(); $("#drop").classList.add("over"); };
$("#drop").ondragleave = () => $("#drop").classList.remove("over");
$("#drop").ondrop = (event) => {
  event.preventDefault();
  $("#drop").classList.remove("over");
  send(event.dataTransfer.files);
};
ask("health")
  .then((told) => {
    $("#drop").hidden = !told.takes_documents;
    $("#open").textContent = told.open_to_others ? say.open : "";
  })
  .catch(() => {});
refresh();
setInterval(refresh, 2000);
const linked = new URLSearchParams(location.hash.slice(1));
if (linked.has("name")) open(linked.get("name"), Number(linked.get("page")) || 1);
