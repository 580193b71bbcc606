// Reads a cloud of points from a PLY file: binary, little-endian, floats, as the service writes it.

const MAX_HEADER = 65_536;
const MAX_POINTS = 60_000; // more are not seen on a screen, and drawing them takes longer than a frame
const COLOUR_SHARE = 0.28209479177387814; // the zeroth spherical harmonic: colour = 0.5 + share * f_dc
const MIN_LOGIT = -2; // an opacity below 12 %: mist around the thing

// {count, places: x y z of each, colours: red green blue of each}; every n-th point of a large cloud.
export function readPly(buffer) {
  const { names, total, start } = header(buffer);
  const columns = ["x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"].map((name) => names.indexOf(name));
  if (columns.some((column) => column < 0)) throw new Error("This cloud has no points with colours.");
  const rows = Math.min(total, Math.floor((buffer.byteLength - start) / (4 * names.length)));
  const step = Math.max(1, Math.ceil(rows / MAX_POINTS));
  const view = new DataView(buffer, start);
  const places = [];
  const colours = [];
  for (let row = 0; row < rows; row += step) {
    const [x, y, z, red, green, blue, opacity] = columns.map((column) => view.getFloat32(4 * (row * names.length + column), true));
    if (!(opacity > MIN_LOGIT) || ![x, y, z].every(Number.isFinite)) continue;
    places.push(x, y, z);
    colours.push(...[red, green, blue].map((one) => 255 * (0.5 + COLOUR_SHARE * one)));
  }
  return { count: places.length / 3, places: new Float32Array(places), colours: new Uint8ClampedArray(colours) };
}

function header(buffer) {
  const words = new TextDecoder("latin1").decode(new Uint8Array(buffer, 0, Math.min(MAX_HEADER, buffer.byteLength)));
  const end = words.indexOf("end_header\n");
  const lines = words.slice(0, Math.max(0, end)).split("\n");
  const total = Number(/^element vertex (\d+)$/m.exec(lines.join("\n"))?.[1] ?? 0);
  const properties = lines.filter((line) => line.startsWith("property "));
  if (end < 0 || !lines.includes("format binary_little_endian 1.0") || properties.some((line) => !/^property float \w+$/.test(line))) {
    throw new Error("This is no cloud that the page can read.");
  }
  return { names: properties.map((line) => line.split(" ")[2]), total, start: end + "end_header\n".length };
}
