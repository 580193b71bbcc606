// Recognised tables, built anew cell by cell: only words and spans are taken over, no attribute, no other element.

const MAX_SPAN = 100;
// The policy of the service forbids to make markup of strings. This one exception parses into a document of its own
// that is never shown and runs nothing; only text leaves it.
const policy = globalThis.trustedTypes?.createPolicy("penstock-tables", { createHTML: (html) => html });

// Returns a table, or null where the words hold none.
export function tableOf(html) {
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
  const found = parsed.querySelector("table");
  if (!found) return null;
  const table = document.createElement("table");
  for (const row of found.rows) {
    const line = table.insertRow();
    for (const cell of row.cells) line.append(cellOf(cell));
  }
  return table;
}

function cellOf(cell) {
  const copy = document.createElement(cell.localName === "th" ? "th" : "td");
  copy.textContent = cell.textContent.trim();
  copy.colSpan = Math.min(cell.colSpan, MAX_SPAN);
  copy.rowSpan = Math.min(cell.rowSpan, MAX_SPAN);
  return copy;
}
