// The service's key: asked for when the service wants one, kept in this tab, sent with every request.
import { $ } from "./dom.js";
import { say } from "./words.js";

const KEPT = "penstock-key";
let asking = null; // one question, however many requests wait for it

export function keyHeaders() {
  const key = sessionStorage.getItem(KEPT);
  return key ? { Authorization: `Bearer ${key}` } : {};
}

// Waits for a key other than the one that was `sent` in vain.
export function wantedKey(sent) {
  if (sent.Authorization !== keyHeaders().Authorization) return Promise.resolve(); // another request has asked meanwhile
  asking ??= asked(Boolean(sent.Authorization)).finally(() => (asking = null));
  return asking;
}

function asked(wasWrong) {
  const dialog = $("#key");
  const field = dialog.querySelector("input");
  dialog.querySelector(".wrong").textContent = wasWrong ? say("keyWrong") : "";
  field.value = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.oncancel = (event) => event.preventDefault(); // without a key there is nothing to see
    dialog.querySelector("form").onsubmit = () => {
      // a header holds no letters beyond Latin-1; a key has none
      sessionStorage.setItem(KEPT, field.value.trim().replace(/[^\x21-\x7e]/g, ""));
      resolve();
    };
  });
}
