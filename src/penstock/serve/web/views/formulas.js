// Formulas: LaTeX becomes MathML, which browsers draw themselves. What is not understood stays LaTeX.
// Only elements named here are made, and only text is put into them.
import { accents, below, functions, integrals, isKind, large, letters, ofKind, operators, spaces, under } from "./math_signs.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const MAX_LETTERS = 5000;
const MAX_DEPTH = 60;
const FENCES = { matrix: ["", ""], pmatrix: ["(", ")"], bmatrix: ["[", "]"], Bmatrix: ["{", "}"], vmatrix: ["|", "|"], Vmatrix: ["‖", "‖"], cases: ["{", ""] };
const TABLES = ["array", "aligned", "align", "align*", "gathered", "gather", "gather*", "split", "smallmatrix", "eqnarray", "eqnarray*", "alignedat", "equation", "equation*"];
const WORDS = ["text", "textrm", "textbf", "textit", "mbox", "hbox", "textnormal", "textsf", "texttt", "textcircled"];
const NOTHING = ["displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "limits", "nolimits", "nonumber", "notag", "hline", "rm", "bf", "it", "cal", "left.", "right.", "mathstrut", "allowbreak"];
const SIZES = /^(big|Big|bigg|Bigg)[lrm]?$/;

// A formula's element, or null where its LaTeX has something that is not known here.
export function formulaOf(words) {
  const latex = words.trim().replace(/^(\$\$|\\\[|\\\(|\$)/, "").replace(/(\$\$|\\\]|\\\)|\$)$/, "");
  if (!latex || latex.length > MAX_LETTERS) return null;
  try {
    const reader = new Reader(latex.match(/\\([a-zA-Z]+\*?|[^])|[^]/g));
    const math = node("math", reader.row(() => reader.isAtEnd));
    math.setAttribute("display", "block");
    math.setAttribute("alttext", latex);
    return math;
  } catch (trouble) {
    if (trouble instanceof NotKnown) return null;
    throw trouble;
  }
}

class NotKnown extends Error {}

function node(name, ...children) {
  const made = document.createElementNS(MATHML, name);
  made.append(...children);
  return made;
}

function fence(sign) {
  const made = node("mo", sign);
  made.setAttribute("stretchy", "true");
  return made;
}

class Reader {
  constructor(tokens) {
    Object.assign(this, { tokens, at: 0, depth: 0 });
  }

  get isAtEnd() {
    return this.at >= this.tokens.length;
  }

  get next() {
    return this.tokens[this.at];
  }

  take(wanted) {
    if (this.isAtEnd || (wanted && this.next !== wanted)) throw new NotKnown();
    return this.tokens[this.at++];
  }

  skipSpace() {
    while (!this.isAtEnd && /^\s$/.test(this.next)) this.at++;
  }

  // Everything until `isOver`, as one row.
  row(isOver) {
    if (++this.depth > MAX_DEPTH) throw new NotKnown();
    const parts = [];
    for (this.skipSpace(); !isOver(); this.skipSpace()) {
      if (this.isAtEnd) throw new NotKnown();
      const part = this.atom();
      if (part) parts.push(this.scripts(part));
    }
    this.depth--;
    return parts.length === 1 ? parts[0] : node("mrow", ...parts);
  }

  group() {
    this.skipSpace();
    if (this.next !== "{") return this.atom() ?? node("mrow");
    this.take("{");
    const inside = this.row(() => this.next === "}");
    this.take("}");
    return inside;
  }

  // The letters between braces, as they are.
  raw() {
    this.skipSpace();
    this.take("{");
    let words = "";
    for (let depth = 1; ; ) {
      const token = this.take();
      depth += token === "{" ? 1 : token === "}" ? -1 : 0;
      if (!depth) return words;
      if (!/^[{}]$/.test(token)) words += token.replace(/^\\([^a-zA-Z])$/, "$1");
    }
  }

  scripts(base) {
    const found = {};
    for (this.skipSpace(); this.next === "^" || this.next === "_" || this.next === "'"; this.skipSpace()) {
      const kind = this.take();
      if (kind === "'") found["^"] = node("mrow", ...[found["^"] ?? ""], node("mo", "′"));
      else if (found[kind]) throw new NotKnown();
      else found[kind] = this.group();
    }
    const [low, high] = [found._, found["^"]];
    if (!low && !high) return base;
    const [one, two, both] = base.isLarge ? ["munder", "mover", "munderover"] : ["msub", "msup", "msubsup"];
    return low && high ? node(both, base, low, high) : low ? node(one, base, low) : node(two, base, high);
  }

  atom() {
    const token = this.take();
    if (token === "{") {
      this.at--;
      return this.group();
    }
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/[\d.]/.test(token)) return this.number(token);
    if (/\p{L}/u.test(token)) return node("mi", token);
    if (token === "~") return this.space(spaces.get("~"));
    if (token === "^" || token === "_" || token === "'") {
      this.at--;
      return node("mrow"); // scripts of nothing, as before a nucleus
    }
    if (/[}&#%$\\]/.test(token)) throw new NotKnown();
    return node("mo", token === "-" ? "−" : token);
  }

  number(first) {
    let digits = first;
    while (!this.isAtEnd && /[\d.]/.test(this.next)) digits += this.take();
    return digits === "." ? node("mo", ".") : node("mn", digits);
  }

  space(width) {
    const made = node("mspace");
    made.setAttribute("width", `${width}em`);
    return made;
  }

  command(name) {
    if (letters.has(name)) return node("mi", letters.get(name));
    if (operators.has(name)) return node("mo", operators.get(name));
    if (integrals.has(name)) return node("mo", integrals.get(name));
    if (large.has(name)) return Object.assign(node("mo", large.get(name)), { isLarge: true });
    if (under.has(name)) return Object.assign(node("mi", name), { isLarge: true });
    if (functions.has(name)) return node("mi", name);
    if (spaces.has(name)) return this.space(spaces.get(name));
    if (accents.has(name)) return node("mover", this.group(), fence(accents.get(name)));
    if (below.has(name)) return Object.assign(node("munder", this.group(), fence(below.get(name))), { isLarge: name === "underbrace" });
    if (isKind(name)) return this.kind(name);
    if (WORDS.includes(name)) return node("mtext", this.raw());
    if (NOTHING.includes(name)) return null;
    if (SIZES.test(name)) return this.atom();
    return this.built(name);
  }

  kind(name) {
    this.skipSpace();
    const start = this.at;
    const words = this.next === "{" ? this.raw() : this.take();
    if (/[\\_^]/.test(words)) {
      this.at = start; // more than letters: as it is
      return this.group();
    }
    return node("mrow", ...[...words.replace(/\s/g, "")].map((letter) => node("mi", ofKind(name, letter))));
  }

  built(name) {
    if (/^[dtc]?frac$/.test(name)) return node("mfrac", this.group(), this.group());
    if (name === "sqrt") return this.root();
    if (name === "left") return this.fenced();
    if (name === "begin") return this.table();
    if (name === "mathrm" || name === "operatorname" || name === "operatorname*") return this.upright();
    if (name === "tag" || name === "tag*") return node("mtext", ` (${this.raw()})`);
    if (name === "stackrel" || name === "overset") return this.over("mover");
    if (name === "underset") return this.over("munder");
    if (name === "binom" || name === "dbinom") return this.binomial();
    if (name === "boxed" || name === "mathop" || name === "mathbin" || name === "mathrel" || name === "mathord" || name === "ensuremath") return this.group();
    throw new NotKnown();
  }

  upright() {
    this.skipSpace();
    const start = this.at;
    const words = this.next === "{" ? this.raw() : this.take();
    if (!words.includes("\\") && !/[_^]/.test(words)) return node("mtext", words.replace(/\s+/g, " ").trim());
    this.at = start;
    return this.group();
  }

  over(name) {
    const above = this.group();
    return node(name, this.group(), above);
  }

  binomial() {
    const inside = node("mfrac", this.group(), this.group());
    inside.setAttribute("linethickness", "0");
    return node("mrow", fence("("), inside, fence(")"));
  }

  root() {
    this.skipSpace();
    if (this.next !== "[") return node("msqrt", this.group());
    this.take("[");
    const degree = this.row(() => this.next === "]");
    this.take("]");
    return node("mroot", this.group(), degree);
  }

  delimiter() {
    this.skipSpace();
    const token = this.take();
    if (token === ".") return "";
    const sign = token.startsWith("\\") ? operators.get(token.slice(1)) : token;
    if (!sign || /\p{L}/u.test(sign)) throw new NotKnown();
    return sign;
  }

  fenced() {
    const open = this.delimiter();
    const inside = this.row(() => this.next === "\\right");
    this.take("\\right");
    return node("mrow", fence(open), inside, fence(this.delimiter()));
  }

  table() {
    const name = this.raw();
    if (!Object.hasOwn(FENCES, name) && !TABLES.includes(name)) throw new NotKnown();
    if (name === "array" || name === "alignedat") this.raw(); // how columns stand: browsers centre them
    const isOver = () => ["&", "\\\\", "\\end"].includes(this.next);
    const lines = [[]];
    for (;;) {
      lines.at(-1).push(node("mtd", this.row(isOver)));
      const token = this.take();
      if (token === "\\end") break;
      if (token === "\\\\") lines.push([]);
    }
    this.raw();
    const table = node("mtable", ...lines.map((cells) => node("mtr", ...cells)));
    const [open, close] = FENCES[name] ?? ["", ""];
    return open || close ? node("mrow", fence(open), table, fence(close)) : table;
  }
}
