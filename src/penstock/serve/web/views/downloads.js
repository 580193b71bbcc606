// What can be taken along: the page, the document, and every format of its job.
import { download, jobIn, query, save, told } from "../api.js";
import { shown } from "../bus.js";
import { copyButton } from "./copying.js";
import { $, button, made } from "../dom.js";
import { forgetJobs, jobOf } from "../files.js";
import { plainName } from "../labels.js";
import { say } from "../words.js";

const stem = () => plainName(shown.name).replace(/\.[^.]*$/, "");

export function drawDownloads(row) {
  const menu = made("div", { class: "menu" });
  const all = made("details", { class: "downloads", ontoggle: () => all.open && fill(menu, row) }, made("summary", { class: "plain" }, say("download")), menu);
  return made("div", { class: "acts" }, row.markdown ? copyButton(() => row.markdown, "copyPage") : null, all, button(say("print"), () => print(), { class: "plain print" }));
}

async function fill(menu, row) {
  const name = shown.name;
  const page = new Blob([JSON.stringify(row, null, 1)], { type: "application/json" });
  const markdown = jobIn(name) ? "" : entry(say("markdown"), () => download("v1/markdown?" + query(name), `${stem()}.md`));
  menu.replaceChildren(
    markdown, entry(say("pageJson"), () => save(page, `${stem()}-${shown.page}.json`)),
  );
  forgetJobs();
  const job = await jobOf(name).catch(() => null);
  for (const format of job?.results ?? []) {
    if (format !== "md" || !markdown) menu.append(entry(format, () => download(`v1/jobs/${job.id}/result?format=${format}`)));
  }
}

function entry(words, act) {
  return button(words, async (event) => {
    const one = event.currentTarget;
    one.setAttribute("aria-busy", "true");
    await Promise.resolve(act()).catch((trouble) => ($("#state").textContent = told(trouble)));
    one.removeAttribute("aria-busy");
  });
}
