// Makes elements. Foreign words only ever become text nodes: a hostile page stays text.

export const $ = (selector) => document.querySelector(selector);

// An element with attributes, listeners (`onclick: function`) and children: nodes, or words as text.
export function made(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) put(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function put(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(name.slice(2), value);
  else node.setAttribute(name, value === true ? "" : value);
}

export const button = (words, onclick, attributes = {}) => made("button", { type: "button", onclick, ...attributes }, words);

// Places an element by shares of its parent, 0..1000. Through the style object: style attributes are forbidden here.
export function place(node, [x0, y0, x1, y1]) {
  const sides = { left: x0, top: y0, width: x1 - x0, height: y1 - y0 };
  for (const [side, value] of Object.entries(sides)) node.style[side] = `${value / 10}%`;
}

export const isNarrow = () => matchMedia("(max-width: 899px)").matches;
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function bring(node, block = "nearest") {
  node.scrollIntoView({ block, inline: "nearest", behavior: isCalm() ? "instant" : "smooth" });
}
