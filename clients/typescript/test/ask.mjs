// node test/ask.mjs URL KEY FILE: reads a file with a service and prints JSON of what the client made of the answers.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { PenstockClient, ServiceError } from "../dist/client.js";

const [url, key, path] = process.argv.slice(2);
const client = new PenstockClient({ url, key });
const file = { name: basename(path), data: await openAsBlob(path) };

const job = await client.submit([file], { layout: "rules", lang: ["ko", "en"] });
const states = [];
for await (const state of client.events(job.id)) states.push(state);
const done = await client.wait(job.id);
const markdown = await (await client.result(job.id, "markdown")).text();
const again = await client.markdown(file, { pages: "1", layout: "rules" });
const page = await client.call("getJobPage", { id: job.id, name: done.files[0], page: 1 });
const picture = await client.answer("getJobPicture", { id: job.id, name: done.files[0], page: 1, side: 64 });
const fields = { properties: { revenue: { type: "number" } } };
const unread = await client.extract("no.pdf", fields).catch((problem) => problem);
const error = await client.call("getJob", { id: "0".repeat(24) }).catch((problem) => problem);
const unasked = await new PenstockClient({ url: "http://127.0.0.1:9" }).documents().catch((problem) => problem);
await client.call("deleteJob", { id: job.id });
const left = await client.call("listJobs", {});

console.log(
  JSON.stringify({
    pages: done.pages,
    markdown,
    first: again,
    states: states.map((state) => state.state),
    regions: page.regions.length,
    picture: [picture.headers.get("Content-Type"), (await picture.arrayBuffer()).byteLength],
    error: [error instanceof ServiceError, error.status, error.message],
    unasked: unasked.message,
    unread: [unread.status, unread.message],
    left: left.map((one) => one.id).includes(job.id),
  }),
);
