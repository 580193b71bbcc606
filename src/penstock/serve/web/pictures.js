// Fetches pictures, a few at a time, the latest wish first; keeps the latest ones. By fetch, as <img> sends no key.
import { answer } from "./api.js";

const MAX_AT_ONCE = 3; // a browser has six connections, and the page needs some for itself
const MAX_KEPT = 400; // thumbnails of some 8 kB, and a few large ones
const kept = new Map(); // address: blob address
const wishes = []; // the last is the next
let atWork = 0;

// Puts a picture into `image` when it is there. Returns a function that takes the wish back.
export function showPicture(image, path, onFail = () => {}) {
  if (kept.has(path)) {
    image.src = kept.get(path);
    return () => {};
  }
  const wish = { image, path, onFail };
  wishes.push(wish);
  work();
  return () => {
    const place = wishes.indexOf(wish);
    if (place >= 0) wishes.splice(place, 1);
    wish.image = null;
  };
}

function work() {
  while (atWork < MAX_AT_ONCE && wishes.length) {
    atWork++;
    fulfil(wishes.pop()).finally(() => {
      atWork--;
      work();
    });
  }
}

async function fulfil(wish) {
  try {
    if (!kept.has(wish.path)) keep(wish.path, URL.createObjectURL(await (await answer(wish.path)).blob()));
    if (wish.image) wish.image.src = kept.get(wish.path);
  } catch (trouble) {
    if (wish.image) wish.onFail(trouble);
  }
}

function keep(path, address) {
  kept.set(path, address);
  for (const [old, url] of kept) {
    if (kept.size <= MAX_KEPT) return;
    kept.delete(old);
    URL.revokeObjectURL(url); // what is drawn stays drawn
  }
}

// Pages that are read again look the same, but their pictures may be there now.
export function forgetPictures(part) {
  for (const path of [...kept.keys()].filter((one) => one.includes(part))) kept.delete(path);
}
