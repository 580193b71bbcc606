// What the compiler must accept and refuse. It is compiled and never run.
import { PenstockClient, type JobAnswer, type SearchHit } from "../src/client.js";

export async function accepted(client: PenstockClient): Promise<[JobAnswer[], SearchHit[]]> {
  const job = await client.submit({ name: "a.pdf", data: new Uint8Array() }, { lang: ["ko"], layout: "rules" });
  const page: Record<string, unknown> = await client.call("getJobPage", { id: job.id, name: "a.pdf", page: 1 });
  const region: number | null = (await client.call("getLocated", { locator: "penstock:a.pdf/p1/r2" })).region;
  return [await client.call("listJobs", { limit: 3 }), await client.search(String(region ?? page), { top: 3 })];
}

export async function refused(client: PenstockClient): Promise<void> {
  // @ts-expect-error there is no such layout
  await client.submit({ name: "a.pdf", data: new Uint8Array() }, { layout: "guessed" });
  // @ts-expect-error a job has an id
  await client.call("getJob", {});
  // @ts-expect-error a question has words
  await client.call("searchWithFilters", {}, { top: 3 });
  // @ts-expect-error there is no such path
  await client.call("getWeather", {});
}
