// Asks the service: the one place for addresses, the key, errors and streams.
import { wantedKey, keyHeaders } from "./key.js";
import { say } from "./words.js";

export class Refused extends Error {
  constructor(status, told) {
    super([told.error, told.advice].filter(Boolean).join(" ") || `HTTP ${status}`);
    this.status = status;
  }
}

// What went wrong, as a sentence.
export const told = (trouble) => (trouble instanceof TypeError ? say("gone") : trouble.message);

// The answer to a request that went well. Asks for the key as long as there is none or a wrong one.
export async function answer(path, options = {}) {
  for (let tries = 0; ; tries++) {
    const sent = keyHeaders();
    const found = await fetch(path, { ...options, headers: { ...options.headers, ...sent } });
    if (found.status === 401) {
      await wantedKey(sent);
      continue;
    }
    if (found.ok) return found;
    throw new Refused(found.status, await found.json().catch(() => ({})));
  }
}

export const ask = async (path, options) => (await answer(path, options)).json();

export const query = (name, page) => `name=${encodeURIComponent(name)}` + (page ? `&page=${page}` : "");

// Documents of jobs with a run of their own are called job:ID/NAME here; the others as the service calls them.
export const ownName = (job, name) => `job:${job}/${name}`;
export const jobIn = (name) => /^job:([0-9a-f]+)\//.exec(name)?.[1] ?? null;
export const nameIn = (name) => name.replace(/^job:[0-9a-f]+\//, "");

// The address of a document, of a page or of its picture.
export function address(what, name, page, more = "") {
  const job = jobIn(name);
  return `v1/${job ? `jobs/${job}/` : ""}${what}?${query(nameIn(name), page)}${more}`;
}

// Yields [event, data] of server-sent events. Not an EventSource: that cannot send a key.
export async function* events(path, signal) {
  const reader = (await answer(path, { signal })).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const pieces = (rest + value).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) {
      const lines = Object.fromEntries(piece.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]));
      if (lines.data) yield [lines.event ?? "message", JSON.parse(lines.data)];
    }
  }
}

// Gives a file to the browser's downloads. By fetch, as a link cannot send a key.
export async function download(path, name) {
  const found = await answer(path);
  const told = /filename="?([^";]+)"?/.exec(found.headers.get("Content-Disposition") ?? "");
  save(await found.blob(), name ?? told?.[1] ?? "download");
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
