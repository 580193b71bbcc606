// Copies words: by the clipboard where the browser allows it (https, or this machine), else as one did before.
import { button } from "../dom.js";
import { say } from "../words.js";

const TOLD_MS = 1500;

export function copyButton(words, label = "copy") {
  const one = button(say(label), async (event) => {
    event.stopPropagation();
    await copy(words());
    one.textContent = say("copied");
    setTimeout(() => (one.textContent = say(label)), TOLD_MS);
  }, { class: "plain copy" });
  return one;
}

async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const field = document.createElement("textarea");
    field.value = words;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
