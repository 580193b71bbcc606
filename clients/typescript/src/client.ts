// Asks a running `penstock serve`. Needs only `fetch`: browsers, Node 20, Deno and Bun have it.

import { PATHS, type DocumentAnswer, type ErrorAnswer, type JobAnswer, type Operations } from "./api.js";
import type { ExtractAnswer, ParseOptions, SearchHit, SearchQuestion, VolumesOptions } from "./api.js";

export * from "./api.js";

/** A file to send: its bytes with a name. A browser's `File` has both. */
export type GivenFile = File | { name: string; data: Blob | Uint8Array };
export type Operation = keyof Operations;

export interface ClientSettings {
  /** Where the service is: `http://gpu:8080`. */
  url?: string;
  key?: string;
  fetch?: typeof fetch;
  /** How long one answer may take, in milliseconds. */
  timeoutMs?: number;
}

const MAX_TRIES = 5;
const FULL = new Set([429, 503]);
const MAX_PAUSE_S = 30;
const WAIT_S = 30; // that one question for a job's end takes at most

/** What went wrong, in a sentence, and what to do. `status` is 0 where no answer came. */
export class ServiceError extends Error {
  constructor(message: string, readonly advice = "", readonly status = 0) {
    super(advice ? `${message} ${advice}` : message);
    this.name = "ServiceError";
  }
}

/**
 * Calls a service.
 *
 *     const client = new PenstockClient({ url: "http://gpu:8080", key: "pk_..." });
 *     console.log(await client.markdown({ name: "report.pdf", data: bytes }, { lang: ["ko"] }));
 */
export class PenstockClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;

  constructor(settings: ClientSettings = {}) {
    this.#url = (settings.url ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
    this.#headers = settings.key ? { Authorization: `Bearer ${settings.key}` } : {};
    this.#fetch = settings.fetch ?? ((...given) => fetch(...given));
    this.#timeoutMs = settings.timeoutMs ?? 120_000;
  }

  /** Calls any path that answers with JSON, by its name in the API's description. */
  async call<Name extends Operation>(
    name: Name,
    parameters: Operations[Name]["parameters"],
    body?: Operations[Name]["body"],
  ): Promise<Operations[Name]["answer"]> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    const answer = await this.answer(name, parameters, sent);
    return answer.status === 204 ? undefined : await answer.json();
  }

  /** Returns the answer itself, for what is no JSON: Markdown, pictures, ZIP. */
  async answer<Name extends Operation>(
    name: Name,
    parameters: Operations[Name]["parameters"],
    sent: RequestInit = {},
  ): Promise<Response> {
    const [method, path] = PATHS[name];
    const rest = new Map(Object.entries(parameters));
    const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = String(rest.get(key));
      rest.delete(key);
      return value.split("/").map(encodeURIComponent).join("/");
    });
    const query = new URLSearchParams([...rest].filter(([, value]) => value != null).map(([key, value]) => [key, String(value)]));
    return await this.#asked(`${this.#url}${filled}${query.size ? `?${query}` : ""}`, { ...sent, method });
  }

  /** Sends documents. When it returns, the service has them on its disk. */
  async submit(files: GivenFile | GivenFile[], options: ParseOptions = {}): Promise<JobAnswer> {
    return await this.#sent("parse", files, options);
  }

  /** Sends photos to be measured. */
  async submitPhotos(files: GivenFile | GivenFile[], options: VolumesOptions = {}): Promise<JobAnswer> {
    return await this.#sent("volumes", files, options);
  }

  /** Waits for the end of a job. Throws where it failed or was cancelled. */
  async wait(id: string): Promise<JobAnswer> {
    for (;;) {
      const job = await this.call("getJob", { id, wait: WAIT_S });
      if (job.state === "done") return job;
      if (job.state === "failed" || job.state === "cancelled") throw new ServiceError(job.error || `The job was ${job.state}.`);
    }
  }

  /** Yields a job each time it gets further, until it is over. */
  async *events(id: string): AsyncGenerator<Partial<JobAnswer>> {
    const answer = await this.answer("streamJobEvents", { id });
    let rest = "";
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
      const events = (rest + piece).split("\n\n");
      rest = events.pop()!;
      for (const event of events) {
        const data = event.split("\n").filter((line) => line.startsWith("data:"));
        if (data.length) yield JSON.parse(data.map((line) => line.slice(5)).join("\n"));
      }
    }
  }

  /** Returns a job's result in any format: json, markdown, docjson, zip, ... */
  async result(id: string, format = "json"): Promise<Response> {
    return await this.answer("getJobResult", { id, format });
  }

  /** Reads one document and returns it as Markdown. */
  async markdown(file: GivenFile, options: ParseOptions = {}): Promise<string> {
    const job = await this.submit(file, options);
    await this.wait(job.id);
    return await (await this.result(job.id, "markdown")).text();
  }

  /** Returns a document's values by a JSON Schema, each with the locators that prove it. */
  async extract(name: string, fields: Record<string, unknown>): Promise<ExtractAnswer> {
    return await this.call("extract", {}, { name, fields });
  }

  /** Returns pages and regions that answer a question, best first. */
  async search(question: string, filters: Omit<SearchQuestion, "question"> = {}): Promise<SearchHit[]> {
    return await this.call("searchWithFilters", {}, { question, ...filters });
  }

  /** Returns the documents of the service. */
  async documents(): Promise<DocumentAnswer[]> {
    return await this.call("listDocuments", {});
  }

  async #sent(name: "parse" | "volumes", files: GivenFile | GivenFile[], options: object): Promise<JobAnswer> {
    const form = new FormData();
    for (const [key, value] of Object.entries(options))
      for (const one of Array.isArray(value) ? value : [value]) if (one != null) form.append(key, String(one));
    for (const file of Array.isArray(files) ? files : [files])
      form.append("files", file instanceof File ? file : new Blob([file.data as BlobPart]), file.name);
    return (await (await this.answer(name, {}, { body: form })).json()) as JobAnswer;
  }

  /** Asks again while the service is full and says when to come back. */
  async #asked(url: string, sent: RequestInit): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#once(url, sent);
      if (answer.ok) return answer;
      const pause = Number(answer.headers.get("Retry-After") ?? NaN);
      if (!FULL.has(answer.status) || tries === MAX_TRIES || !(pause <= MAX_PAUSE_S)) throw await refusal(answer);
      await answer.body?.cancel();
      await new Promise((resume) => setTimeout(resume, pause * 1000));
    }
  }

  async #once(url: string, sent: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(sent.headers as Record<string, string> | undefined) };
    try {
      return await this.#fetch(url, { ...sent, headers, signal: AbortSignal.timeout(this.#timeoutMs) });
    } catch (problem) {
      throw new ServiceError(`${this.#url} cannot be asked: ${String(problem)}.`, "Is `penstock serve` running there?");
    }
  }
}

async function refusal(answer: Response): Promise<ServiceError> {
  const told = (await answer.json().catch(() => ({}))) as Partial<ErrorAnswer>;
  return new ServiceError(told.error ?? `The service answered ${answer.status}.`, told.advice ?? "", answer.status);
}
