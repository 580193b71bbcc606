// Files of a run: crops, outlines, clouds. A key that is not the operator's gets them by its job.
import { ask, jobIn } from "./api.js";
import { shown } from "./bus.js";
import { made } from "./dom.js";
import { showPicture } from "./pictures.js";

const jobs = new Map(); // document: the job that sent it, or null

// The job that sent a document; null for one of an earlier run.
export async function jobOf(name) {
  if (jobIn(name)) return ask(`v1/jobs/${jobIn(name)}`);
  if (!jobs.has(name)) {
    const all = await ask("v1/jobs?limit=1000");
    for (const job of all.reverse()) for (const one of job.documents) jobs.set(one.name, job);
    if (!jobs.has(name)) jobs.set(name, null);
  }
  return jobs.get(name);
}

export const forgetJobs = () => jobs.clear();

// Puts a kept picture into `image`.
export function showFile(image, path) {
  const name = shown.name;
  const own = jobIn(name);
  if (own) return showPicture(image, `v1/jobs/${own}/file/${path}`);
  return showPicture(image, `v1/file/${path}`, async () => {
    const job = await jobOf(name).catch(() => null);
    if (job) showPicture(image, `v1/jobs/${job.id}/file/${path}`);
  });
}

export function cropOf(path, alt) {
  const image = made("img", { alt, class: "crop" });
  showFile(image, path);
  return image;
}
