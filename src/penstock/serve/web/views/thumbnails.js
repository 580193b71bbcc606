// Small pictures of all pages; only those that can be seen are fetched and in the page.
import { address } from "../api.js";
import { on, shown } from "../bus.js";
import { $, button, made } from "../dom.js";
import { LongList } from "../long_list.js";
import { open } from "./opened.js";
import { showPicture } from "../pictures.js";
import { say } from "../words.js";

export const SMALL = 240; // pixels of the longer side
const ROW = 148; // pixels
const COLUMN = 112; // pixels, on a phone
let list = null;
let drawn = "";

export function startThumbnails() {
  list = new LongList($("#thumbs"), ROW, drawOne, COLUMN);
  for (const event of ["opened", "parts", "words"]) on(event, draw);
}

function draw() {
  const now = JSON.stringify([shown.name, shown.page, shown.parts, document.documentElement.lang]);
  if (now === drawn) return;
  drawn = now;
  $("#thumbs").hidden = shown.parts.length < 2;
  list.set(shown.parts.length);
  const place = shown.parts.findIndex((part) => part.page === shown.page);
  if (place >= 0) list.show(place);
}

function drawOne(number) {
  const part = shown.parts[number];
  const one = button("", () => open(shown.name, part.page), {
    class: "thumb" + (part.ok ? "" : " bad"),
    "aria-current": part.page === shown.page ? "page" : null,
    "aria-label": say("toPage", part.page) + (part.ok ? "" : `, ${say("failed")}`),
  });
  const { node, cancel } = thumbnail(shown.name, part.page);
  one.append(node, made("span", {}, String(part.page)));
  one.addEventListener("gone", cancel);
  return one;
}

// A small picture of a page, and a function that takes the wish for it back.
export function thumbnail(name, page) {
  const image = made("img", { alt: "", draggable: "false" });
  const node = made("span", { class: "small" }, image);
  const cancel = showPicture(image, address("picture", name, page, `&boxes=false&side=${SMALL}`), () => node.classList.add("none"));
  return { node, cancel };
}
