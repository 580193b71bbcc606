// A thing's cloud of points, turned with the mouse, a finger or the arrow keys.
import { told } from "../api.js";
import { button, made } from "../dom.js";
import { bytesOf } from "../files.js";
import { readPly } from "../ply.js";
import { say } from "../words.js";

const SIDE = 480; // pixels of the drawing
const DOT = 2; // pixels of a point's side: no gaps at this size
const STEP = 0.15; // radians a key turns
const ZOOMS = [0.5, 5];

export function cloudButton(thing) {
  const label = say("turn", thing.label);
  return button("3D", () => open(thing), { class: "plain solid", "aria-label": label, title: label });
}

async function open(thing) {
  const canvas = made("canvas", { width: SIDE, height: SIDE, tabindex: 0, role: "img", "aria-label": say("turn", thing.label) });
  const note = made("p", { class: "note works", role: "status" }, say("reading"));
  const dialog = made("dialog", { class: "cloud", "aria-label": thing.label, onclose: () => dialog.remove() }, made("h2", {}, thing.label), canvas, note, button(say("close"), () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
  try {
    show(canvas, centred(readPly(await bytesOf(thing.ply))));
    note.textContent = say("turnHow");
  } catch (trouble) {
    note.textContent = told(trouble);
  }
  note.classList.remove("works");
}

// The cloud around its middle, in shares of its reach.
function centred({ count, places, colours }) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  places.forEach((value, n) => {
    low[n % 3] = Math.min(low[n % 3], value);
    high[n % 3] = Math.max(high[n % 3], value);
  });
  const reach = Math.hypot(...high.map((value, axis) => value - low[axis])) / 2 || 1;
  return { count, colours, places: places.map((value, n) => (value - (low[n % 3] + high[n % 3]) / 2) / reach) };
}

function show(canvas, cloud) {
  const look = { yaw: 0.5, tilt: 0.35, zoom: 1 };
  const turn = (yaw, tilt) => {
    look.yaw += yaw;
    look.tilt = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, look.tilt + tilt));
    draw(canvas, cloud, look);
  };
  const zoom = (factor) => {
    look.zoom = Math.min(ZOOMS[1], Math.max(ZOOMS[0], look.zoom * factor));
    draw(canvas, cloud, look);
  };
  turn(0, 0);
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => event.buttons && turn(event.movementX / 100, event.movementY / 100));
  canvas.addEventListener("wheel", (event) => (event.preventDefault(), zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1)), { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const acts = { ArrowLeft: () => turn(-STEP, 0), ArrowRight: () => turn(STEP, 0), ArrowUp: () => turn(0, STEP), ArrowDown: () => turn(0, -STEP), "+": () => zoom(1.2), "-": () => zoom(1 / 1.2) };
    if (event.key in acts) {
      event.preventDefault();
      acts[event.key]();
    }
  });
}

// Draws each point where nothing nearer is. Up is the third axis.
function draw(canvas, { count, places, colours }, { yaw, tilt, zoom }) {
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(SIDE, SIDE);
  const depth = new Float32Array(SIDE * SIDE).fill(Infinity);
  const [cosYaw, sinYaw, cosTilt, sinTilt] = [Math.cos(yaw), Math.sin(yaw), Math.cos(tilt), Math.sin(tilt)];
  for (let n = 0; n < count; n++) {
    const [x, y, z] = [places[3 * n], places[3 * n + 1], places[3 * n + 2]];
    const away = x * sinYaw + y * cosYaw;
    const column = Math.round(SIDE * (0.5 + 0.46 * zoom * (x * cosYaw - y * sinYaw)));
    const row = Math.round(SIDE * (0.5 - 0.46 * zoom * (z * cosTilt + away * sinTilt)));
    dot(image.data, depth, column, row, away * cosTilt - z * sinTilt, colours.subarray(3 * n, 3 * n + 3));
  }
  pen.putImageData(image, 0, 0);
}

function dot(pixels, depth, column, row, far, colour) {
  for (let down = row; down < row + DOT; down++) {
    for (let right = column; right < column + DOT; right++) {
      const place = down * SIDE + right;
      if (down < 0 || right < 0 || down >= SIDE || right >= SIDE || depth[place] <= far) continue;
      depth[place] = far;
      pixels.set(colour, 4 * place);
      pixels[4 * place + 3] = 255;
    }
  }
}
