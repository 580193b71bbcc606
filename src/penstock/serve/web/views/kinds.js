// Which kinds of regions are shown: a chip for each kind of the page, pressed or not.
import { tell } from "../bus.js";
import { $, button, made } from "../dom.js";
import { family, plainLabel } from "../labels.js";

const hidden = new Set(); // kept from page to page

export const isHidden = (label) => hidden.has(label);

export function drawChips(row) {
  const counts = new Map();
  for (const one of [...row.regions, ...(row.objects ?? [])]) counts.set(one.label, (counts.get(one.label) ?? 0) + 1);
  const chips = $("#chips");
  chips.hidden = counts.size < 2;
  chips.replaceChildren(...[...counts].map(([label, count]) => chip(label, count)));
}

function chip(label, count) {
  const one = button("", () => flip(one, label), { class: `chip is-${family(label)}`, "aria-pressed": String(!isHidden(label)), "data-kind": label });
  one.append(made("i", { "aria-hidden": "true" }), plainLabel(label), made("small", {}, String(count)));
  return one;
}

function flip(one, label) {
  if (!hidden.delete(label)) hidden.add(label);
  one.setAttribute("aria-pressed", String(!isHidden(label)));
  tell("filter");
}
