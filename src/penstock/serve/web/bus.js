// How the parts of the page tell each other what happened, without knowing each other.
//
//   words       the language has changed: everything is drawn anew
//   opened      a document was opened; `shown` says which
//   parts       more pages of the shown document are there
//   page        the shown page has arrived: `shown.row`
//   light       a region is pointed at or chosen: {index, from, chosen}
//   progress    a job has moved: its row
//   documents   the list of documents has changed
//   view        another view is shown: its name

const bus = new EventTarget();

export const on = (name, act) => bus.addEventListener(name, (event) => act(event.detail));
export const tell = (name, detail = null) => bus.dispatchEvent(new CustomEvent(name, { detail }));

// What is shown. `parts` are the pages that are read; `hit` is what a search has found on the page.
export const shown = { name: null, page: 1, parts: [], pages: null, row: null, hit: null, trouble: "" };
export const service = { takesDocuments: false };
