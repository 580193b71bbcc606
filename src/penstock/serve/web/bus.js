// How the parts of the page tell each other what happened, without knowing each other.
//
//   words       the language has changed: everything is drawn anew
//   opened      a document was opened; `shown` says which
//   parts       more pages of the shown document are there
//   page        the shown page has arrived: `shown.row`
//   light       a region is pointed at or chosen: {index, from, chosen}; index is null where none is
//   filter      other kinds of regions are shown
//   things      corrections of the shown photo's things have changed places
//   moved       more pages of the shown document may be there
//   pane        another part of the view is shown, on a phone: its name
//   progress    a job has moved: its row
//   documents   the list of documents has changed
//   taken       a job with a run of its own was sent: its id; its first document is opened
//   service     what the service does is known: `service`
//   view        another view is shown: its name

const bus = new EventTarget();

export const on = (name, act) => bus.addEventListener(name, (event) => act(event.detail));
export const tell = (name, detail = null) => bus.dispatchEvent(new CustomEvent(name, { detail }));

// What is shown. `parts` are the pages that are read; `hit` is what a search has found on the page.
export const shown = { name: null, page: 1, parts: [], pages: null, row: null, hit: null, chosen: null, trouble: "" };

// A region is pointed at by a mouse or the focus, or chosen by a click: then it stays lit when the mouse leaves.
export function point(index, from, chosen = false) {
  if (chosen) shown.chosen = index;
  tell("light", { index, from, chosen });
}

export function pointAway() {
  const focused = document.activeElement?.closest("#boxes [data-index]");
  tell("light", { index: focused ? Number(focused.dataset.index) : shown.chosen, from: "nowhere", chosen: false });
}

export const service = { takesDocuments: false };
