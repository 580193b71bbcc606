// The page starts here: every part is told to begin, then the address says what to show.
import { ask } from "./api.js";
import { on, service, tell } from "./bus.js";
import { startAddThing } from "./views/add_thing.js";
import { startBoxes } from "./views/boxes.js";
import { startDocuments } from "./views/documents.js";
import { $ } from "./dom.js";
import { startMeasuring } from "./views/measuring.js";
import { follow, showPane, showView, startOpened } from "./views/opened.js";
import { startPageView } from "./views/page_view.js";
import { startPhotos } from "./views/photos.js";
import { startReview } from "./views/review.js";
import { startRuns } from "./views/runs.js";
import { startSearch } from "./views/search.js";
import { startSending } from "./views/sending.js";
import { startSettings } from "./settings.js";
import { startTextView } from "./views/text_view.js";
import { startThumbnails } from "./views/thumbnails.js";
import { drawWords, say } from "./words.js";

drawWords();
for (const start of [startSettings, startOpened, startThumbnails, startPageView, startMeasuring, startAddThing, startBoxes, startTextView, startPhotos, startSearch, startReview, startRuns, startSending, startDocuments]) start();
for (const one of document.querySelectorAll("button[data-view]")) one.addEventListener("click", () => showView(one.dataset.view));
for (const one of document.querySelectorAll("button[data-pane]")) one.addEventListener("click", () => showPane(one.dataset.pane));
for (const event of ["view", "pane"]) on(event, mark);
on("words", drawWarning);
mark();

let isOpen = false;
ask("health/live") // it answers while models load, too
  .then((told) => {
    service.takesDocuments = told.takes_documents;
    $("#drop").hidden = $("#measure").hidden = $("#office").hidden = !told.takes_documents;
    isOpen = told.open_to_others;
    tell("service");
    drawWarning();
  })
  .catch(() => {}); // the list of documents says it
follow();

function drawWarning() {
  $("#warning").hidden = !isOpen;
  $("#warning").textContent = isOpen ? say("open") : "";
}

// Which view and which part of it are shown, for those who cannot see it.
function mark() {
  for (const kind of ["view", "pane"]) {
    for (const one of document.querySelectorAll(`button[data-${kind}]`)) {
      if (one.dataset[kind] === document.body.dataset[kind]) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
  }
}
