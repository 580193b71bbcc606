// The document that is open: its address, its pages as they come, the page that is shown.
import { address, ask, query, told } from "../api.js";
import { on, shown, tell } from "../bus.js";
import { isNarrow } from "../dom.js";

const LOOK_MS = 1000; // between two looks at which pages are there, however fast events come
let looking = false;
let opening = 0;

export function startOpened() {
  on("moved", keepUp);
  addEventListener("hashchange", follow);
}

// Opens what the address names: #penstock:report.pdf/p3/r7, or #name=...&page=3. Other addresses are not ours.
export function follow() {
  if (location.hash.startsWith("#penstock:")) return openAt(location.hash.slice(1));
  const wanted = new URLSearchParams(location.hash.slice(1));
  const page = Number(wanted.get("page")) || 1;
  if (wanted.has("name") && (wanted.get("name") !== shown.name || page !== shown.page)) open(wanted.get("name"), page);
}

async function openAt(locator) {
  try {
    const place = await ask(`v1/at?locator=${encodeURIComponent(locator)}`);
    const isPart = ["line", "cell", "thing"].includes(place.kind);
    await open(place.document, place.page ?? 1, place.bbox && { region: place.region, box: place.bbox, isPart });
  } catch (trouble) {
    tell("page", told(trouble));
  }
}

// `hit` is what a search found there: {region, box}; `isPart` where the box is smaller than the region's.
export async function open(name, page = 1, hit = null) {
  const isNew = name !== shown.name;
  Object.assign(shown, { name, page, hit, row: null, chosen: null, trouble: "" });
  if (isNew) Object.assign(shown, { parts: [], pages: null });
  showView("documents");
  showPane("page");
  tell("opened");
  opening++;
  if (isNew) await loadParts();
  await loadPage();
  opening--;
}

export const turn = (step) => {
  const place = shown.parts.findIndex((part) => part.page === shown.page) + step;
  if (shown.parts[place]) open(shown.name, shown.parts[place].page);
};

async function keepUp() {
  if (looking || opening) return; // drawn twice, a page would lose a click
  looking = true;
  await loadParts();
  if (shown.row === null || shown.row.failure) await loadPage();
  setTimeout(() => (looking = false), LOOK_MS);
}

async function loadParts() {
  const name = shown.name;
  try {
    const state = await ask(address("document", name));
    if (name !== shown.name) return; // another one was chosen meanwhile
    Object.assign(shown, { parts: state.parts, pages: state.pages });
    tell("parts");
  } catch (trouble) {
    if (name === shown.name) tell("page", told(trouble));
  }
}

async function loadPage() {
  const { name, page } = shown;
  const here = "#" + query(name, page);
  if (location.hash !== here) history.pushState(null, "", here);
  const isRead = shown.parts.some((part) => part.page === page);
  if (!isRead && shown.parts.length < (shown.pages ?? 1)) return tell("page");
  try {
    const row = await ask(address("page", name, page));
    if (name !== shown.name || page !== shown.page) return;
    shown.row = row;
    tell("page");
  } catch (trouble) {
    if (name === shown.name && page === shown.page) tell("page", told(trouble));
  }
}

export const reload = loadPage;

export function showView(name) {
  if (document.body.dataset.view === name) return;
  document.body.dataset.view = name;
  tell("view", name);
}

export function showPane(name) {
  document.body.dataset.pane = name;
  if (isNarrow()) scrollTo(0, 0);
  tell("pane", name);
}
