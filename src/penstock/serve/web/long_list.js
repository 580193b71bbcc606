// A list of which only the rows that can be seen are in the page: 10,000 scroll like ten.
import { isNarrow, made } from "./dom.js";

const AHEAD = 4; // rows drawn beyond each edge

export class LongList {
  // `draw(number)` makes the content of a row. Rows are `height` pixels high; with `width` they stand side by side on a phone.
  constructor(box, height, draw, width = 0) {
    Object.assign(this, { box, height, draw, width, count: 0, rows: new Map() });
    this.list = made("ul", { role: "list" });
    box.append(this.list);
    box.addEventListener("scroll", () => this.#fill(), { passive: true });
    new ResizeObserver(() => this.#isAcross !== box.classList.contains("across") ? this.set(this.count) : this.#fill()).observe(box);
  }

  // Draws all rows that can be seen anew; the focus stays where it is.
  set(count) {
    this.count = count;
    this.box.classList.toggle("across", this.#isAcross);
    this.list.style.height = this.#isAcross ? "" : `${count * this.height}px`;
    this.list.style.width = this.#isAcross ? `${count * this.width}px` : "";
    const focused = [...this.rows].find(([, row]) => row.contains(document.activeElement))?.[0];
    for (const [number, row] of this.rows) this.#drop(number, row);
    this.#fill();
    if (focused !== undefined) this.rows.get(focused)?.querySelector("button")?.focus({ preventScroll: true });
  }

  show(number) {
    const [scroll, size] = this.#isAcross ? ["scrollLeft", "clientWidth"] : ["scrollTop", "clientHeight"];
    const start = number * this.#step;
    if (start < this.box[scroll]) this.box[scroll] = start - this.#step;
    if (start + this.#step > this.box[scroll] + this.box[size]) this.box[scroll] = start + 2 * this.#step - this.box[size];
    this.#fill();
  }

  get #isAcross() {
    return this.width > 0 && isNarrow();
  }

  get #step() {
    return this.#isAcross ? this.width : this.height;
  }

  #fill() {
    const [start, size] = this.#isAcross ? [this.box.scrollLeft, this.box.clientWidth] : [this.box.scrollTop, this.box.clientHeight];
    const first = Math.max(0, Math.floor(start / this.#step) - AHEAD);
    const last = Math.min(this.count, Math.ceil((start + size) / this.#step) + AHEAD);
    for (const [number, row] of this.rows) {
      const isAway = number < first || number >= last;
      if (isAway && !row.contains(document.activeElement)) this.#drop(number, row); // who tabs on must not lose the place
    }
    for (let number = first; number < last; number++) if (!this.rows.has(number)) this.#add(number);
  }

  #add(number) {
    const row = made("li", { "aria-setsize": this.count, "aria-posinset": number + 1, "data-number": number }, this.draw(number));
    row.style[this.#isAcross ? "left" : "top"] = `${number * this.#step}px`;
    row.style[this.#isAcross ? "width" : "height"] = `${this.#step}px`;
    this.rows.set(number, row);
    const next = [...this.list.children].find((other) => Number(other.dataset.number) > number);
    this.list.insertBefore(row, next ?? null); // in order: the Tab key follows it
  }

  #drop(number, row) {
    row.firstElementChild?.dispatchEvent(new CustomEvent("gone"));
    row.remove();
    this.rows.delete(number);
  }
}
