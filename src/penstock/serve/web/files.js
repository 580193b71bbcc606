// Files of a run: crops, outlines, clouds. A key that is not the operator's gets them by its job.
import { answer, ask, jobIn } from "./api.js";
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

const fileOf = (job, path) => (job ? `v1/jobs/${job}/file/${path}` : `v1/file/${path}`);

// Puts a kept picture into `image`.
export function showFile(image, path) {
  const name = shown.name;
  const own = jobIn(name);
  if (own) return showPicture(image, fileOf(own, path));
  return showPicture(image, fileOf(null, path), async () => {
    const job = await jobOf(name).catch(() => null);
    if (job) showPicture(image, fileOf(job.id, path));
  });
}

// The bytes of a kept file, such as a cloud.
export async function bytesOf(path) {
  const name = shown.name;
  const read = async (job) => (await answer(fileOf(job, path))).arrayBuffer();
  const own = jobIn(name);
  if (own) return read(own);
  return read(null).catch(async (trouble) => {
    const job = await jobOf(name);
    if (!job) throw trouble;
    return read(job.id);
  });
}

export function cropOf(path, alt) {
  const image = made("img", { alt, class: "crop" });
  showFile(image, path);
  return image;
}
