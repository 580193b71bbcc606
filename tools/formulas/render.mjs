// Lays out formulas with MathJax and writes where each glyph stands. It draws nothing: raster.py does.
//
//   node render.mjs --out layouts.jsonl --glyphs glyphs.json [--seconds 600] < formulas.tsv
//
// A line of the input is `font <tab> label <tab> LaTeX`. A line of the output is [font, label, marks, rules]:
// marks are [glyph, x, y, scale x, scale y], rules are [x, y, width, height], in thousandths of an em, y upwards,
// the baseline at 0. Formulas with anything else (text in a font of the system, errors) are left out and counted.
// Lines that --out already holds are skipped, so a stopped run goes on where it was.

import {appendFileSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {liteAdaptor} from '@mathjax/src/mjs/adaptors/liteAdaptor.js';
import {RegisterHTMLHandler} from '@mathjax/src/mjs/handlers/html.js';
import '@mathjax/src/mjs/input/tex/ams/AmsConfiguration.js';
import '@mathjax/src/mjs/input/tex/base/BaseConfiguration.js';
import '@mathjax/src/mjs/input/tex/boldsymbol/BoldsymbolConfiguration.js';
import {TeX} from '@mathjax/src/mjs/input/tex.js';
import {mathjax} from '@mathjax/src/mjs/mathjax.js';
import {SVG} from '@mathjax/src/mjs/output/svg.js';
import '@mathjax/src/mjs/util/asyncLoad/esm.js';

const FLUSH_EVERY = 1000;
const require = createRequire(import.meta.url);

function argument(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

const adaptor = liteAdaptor();
RegisterHTMLHandler(adaptor);

async function openFont(name) {
  const room = `@mathjax/mathjax-${name}-font`;
  const fontData = Object.values(await import(`${room}/mjs/svg.js`))[0];
  const dynamicPrefix = join(dirname(require.resolve(`${room}/package.json`)), 'mjs', 'svg', 'dynamic');
  const output = new SVG({fontData, dynamicPrefix, fontCache: 'global', linebreaks: {inline: false}});
  const input = new TeX({packages: ['base', 'ams', 'boldsymbol'], formatError: (_, error) => { throw error; }});
  const page = mathjax.document('', {InputJax: input, OutputJax: output});
  await output.font.loadDynamicFiles();
  return {page, output};
}

class Unusable extends Error {}

function moved(place, transform) {
  let [x, y, sx, sy] = place;
  for (const [, kind, values] of (transform ?? '').matchAll(/(translate|scale)\(([^)]*)\)/g)) {
    const [a, b] = values.split(/[ ,]+/).map(Number);
    if (kind === 'translate') { x += a * sx; y += (b ?? 0) * sy; } else { sx *= a; sy *= b ?? a; }
  }
  return [x, y, sx, sy];
}

// Walks the picture's tree. `window` is the part of a stretched glyph that shows.
function walk(node, place, font, found, window = null) {
  const get = name => adaptor.getAttribute(node, name);
  const kind = adaptor.kind(node);
  if (kind === 'use') {
    const key = `${font}:${get('xlink:href').replace(/^#MJX-(\d+-)?/, '')}`;
    const at = moved(place, get('transform')).map(value => Math.round(value * 1000) / 1000);
    found.marks.push(window ? [key, ...at, ...window] : [key, ...at]);
  } else if (kind === 'rect') {
    const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(name => Number(get(name) ?? 0));
    const [px, py, sx, sy] = moved(place, get('transform'));
    found.rules.push([px + x * sx, py + y * sy, w * sx, h * sy].map(Math.round));
  } else if (kind === 'text' || kind === 'path' || kind === 'line' || kind === 'ellipse') {
    throw new Unusable(kind);
  } else if (kind === 'svg' && found.inside) {
    const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(name => Number(get(name) ?? 0));
    const [vx, vy] = get('viewBox').split(' ').map(Number);
    const [px, py, sx, sy] = place;
    const seen = [px + x * sx, py + y * sy, px + (x + w) * sx, py + (y + h) * sy].map(Math.round);
    const inner = [px + (x - vx) * sx, py + (y - vy) * sy, sx, sy];
    adaptor.childNodes(node).forEach(child => walk(child, inner, font, found, seen));
  } else if (kind !== 'defs' && kind !== '#text') {
    if (kind === 'g') found.inside = true;
    const next = kind === 'g' && found.started ? moved(place, get('transform')) : place;
    if (kind === 'g') found.started = true; // the outermost group only turns the y axis
    adaptor.childNodes(node).forEach(child => walk(child, next, font, found, window));
  }
}

function layout(opened, font, latex) {
  const found = {marks: [], rules: [], inside: false, started: false};
  walk(opened.page.convert(latex, {display: true}), [0, 0, 1, 1], font, found);
  if (!found.marks.length) throw new Unusable('nothing');
  return found;
}

function outlines(opened, font) {
  const glyphs = {};
  const cache = opened.output.fontCache.getCache();
  for (const path of adaptor.childNodes(cache)) {
    glyphs[`${font}:${adaptor.getAttribute(path, 'id').replace(/^MJX-(\d+-)?/, '')}`] = adaptor.getAttribute(path, 'd');
  }
  return glyphs;
}

// Writes the glyphs first: a layout on disk never names an outline that is not.
function flush() {
  const file = argument('glyphs');
  const glyphs = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const [font, opened] of Object.entries(fonts)) Object.assign(glyphs, outlines(opened, font));
  writeFileSync(file, JSON.stringify(glyphs));
  if (written.length) appendFileSync(out, written.join('\n') + '\n');
  written = [];
}

const out = argument('out');
const until = Date.now() + 1000 * Number(argument('seconds', 600));
const done = existsSync(out) ? readFileSync(out, 'utf8').split('\n').length - 1 : 0;
const fonts = {};
const left = {};
let written = [];
let count = 0;
for (const line of readFileSync(0, 'utf8').split('\n')) {
  if (!line || count++ < done) continue;
  if (Date.now() > until) break;
  const [font, label, latex] = line.split('\t');
  fonts[font] ??= await openFont(font);
  let row = null; // a formula that cannot be used keeps its line, so that a later run skips it
  try {
    const found = layout(fonts[font], font, latex);
    row = [font, label, found.marks, found.rules];
  } catch (error) {
    const why = error instanceof Unusable ? error.message : String(error.message ?? error).slice(0, 60);
    left[why] = (left[why] ?? 0) + 1;
  }
  written.push(JSON.stringify(row));
  if (written.length >= FLUSH_EVERY) flush();
}
flush();
console.log(JSON.stringify({lines: count, left}));
