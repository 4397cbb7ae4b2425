import { fractalNoise, hash } from './noise.ts';
import type { Raster } from './png.ts';

export type Colour = readonly [red: number, green: number, blue: number];

/** A silhouette across the picture. Heights are shares of the picture's height, from its top. */
export interface Ridge {
  readonly at: number;
  readonly height: number;
  /** How many hills are side by side. */
  readonly hills: number;
  readonly seed: number;
  readonly colour: Colour;
  /** What the foot of the ridge fades to. */
  readonly haze: Colour;
  /** Trees side by side; none: bare rock or sand. */
  readonly trees?: number;
  readonly octaves?: number;
}

export interface Landscape {
  /** From the top to the horizon. */
  readonly sky: readonly Colour[];
  readonly sun?: {
    readonly x: number;
    readonly y: number;
    readonly radius: number;
    readonly colour: Colour;
    readonly glow: number;
  };
  readonly clouds?: { readonly colour: Colour; readonly seed: number; readonly amount: number };
  readonly stars?: number;
  /** From the farthest to the nearest. */
  readonly ridges: readonly Ridge[];
  /** Below this, what is above is mirrored. */
  readonly water?: { readonly at: number; readonly colour: Colour };
}

const HAZE_DEPTH = 0.28;
const mix = (from: number, to: number, share: number): number => from + (to - from) * share;
const within = (share: number): number => Math.min(1, Math.max(0, share));

/** Paints a landscape. The same description gives the same picture. */
export function paint(landscape: Landscape, width: number, height: number): Raster {
  const data = new Uint8Array(width * height * 3);
  const outlines = landscape.ridges.map((ridge) => outlineOf(ridge, width, height));
  const shore = landscape.water === undefined ? height : Math.round(landscape.water.at * height);
  const pixel: [number, number, number] = [0, 0, 0];
  for (let y = 0; y < shore; y += 1) {
    for (let x = 0; x < width; x += 1) {
      paintSky(landscape, x / width, y / height, width / height, pixel);
      paintRidges(landscape.ridges, outlines, x, y, height, pixel);
      data.set(pixel, (y * width + x) * 3);
    }
  }
  if (landscape.water) paintWater(data, width, height, shore, landscape.water.colour);
  return { width, height, data };
}

/** Returns the height of a ridge in each column, in pixels from the top. */
function outlineOf({ at, height, hills, seed, trees, octaves }: Ridge, width: number, rows: number): Float64Array {
  return Float64Array.from({ length: width }, (_, x) => {
    const along = (x / width) * hills;
    const ground = at - height * fractalNoise(along, seed * 7.31, seed, octaves ?? 6);
    return (ground - treeAt(x / width, trees, seed)) * rows;
  });
}

/** Spruces: triangles of different heights side by side, with jagged edges. */
function treeAt(x: number, trees: number | undefined, seed: number): number {
  if (trees === undefined) return 0;
  const along = x * trees;
  const number = Math.floor(along);
  const toMiddle = Math.abs(along - number - 0.5) * 2;
  const size = 0.4 + 0.6 * hash(number, 1, seed);
  const jag = 0.12 * Math.abs(((toMiddle * 5) % 1) - 0.5);
  return Math.max(0, 1 - toMiddle - jag) * size * (1.6 / trees);
}

function paintSky(
  { sky, sun, clouds, stars }: Landscape,
  x: number,
  y: number,
  ratio: number,
  pixel: [number, number, number],
): void {
  const along = within(y * 1.35) * (sky.length - 1);
  const step = Math.min(sky.length - 2, Math.floor(along));
  const [from, to] = [sky[step] ?? [0, 0, 0], sky[step + 1] ?? [0, 0, 0]];
  for (let c = 0; c < 3; c += 1) pixel[c] = mix(from[c] ?? 0, to[c] ?? 0, along - step);
  if (stars !== undefined) {
    const [column, row] = [Math.floor(x * 320 * ratio), Math.floor(y * 320)];
    const chance = hash(column, row, stars);
    if (chance > 0.9955) for (let c = 0; c < 3; c += 1) pixel[c] = mix(pixel[c] ?? 0, 255, (chance - 0.9955) * 200 * (1 - y));
  }
  if (clouds) {
    const share = within((fractalNoise(x * 4, y * 14, clouds.seed) - clouds.amount) * 3) * within(1.1 - y * 1.4);
    for (let c = 0; c < 3; c += 1) pixel[c] = mix(pixel[c] ?? 0, clouds.colour[c] ?? 0, share);
  }
  if (sun) {
    const distance = Math.hypot((x - sun.x) * ratio, y - sun.y);
    const share = Math.max(within((sun.radius - distance) * 300), sun.glow * Math.exp(-Math.max(0, distance - sun.radius) * 5.5));
    for (let c = 0; c < 3; c += 1) pixel[c] = mix(pixel[c] ?? 0, sun.colour[c] ?? 0, share);
  }
}

function paintRidges(
  ridges: readonly Ridge[],
  outlines: readonly Float64Array[],
  x: number,
  y: number,
  rows: number,
  pixel: [number, number, number],
): void {
  for (const [number, ridge] of ridges.entries()) {
    const top = outlines[number]?.[x] ?? rows;
    const share = within(y + 0.5 - top);
    if (share === 0) continue;
    const depth = within((y - top) / rows / HAZE_DEPTH);
    for (let c = 0; c < 3; c += 1) pixel[c] = mix(pixel[c] ?? 0, mix(ridge.colour[c] ?? 0, ridge.haze[c] ?? 0, depth), share);
  }
}

/** Mirrors what is above the shore, moved sideways by ripples that grow towards the viewer. */
function paintWater(data: Uint8Array, width: number, height: number, shore: number, colour: Colour): void {
  for (let y = shore; y < height; y += 1) {
    const depth = (y - shore) / (height - shore);
    const from = Math.max(0, Math.round(shore - 1 - (y - shore) * (shore / (height - shore)) * 0.8));
    const share = 0.22 + 0.5 * depth;
    for (let x = 0; x < width; x += 1) {
      const ripple = (fractalNoise((x / width) * 9, y * 0.16, 5, 2) - 0.5) * (6 + 46 * depth);
      const column = Math.min(width - 1, Math.max(0, Math.round(x + ripple)));
      for (let c = 0; c < 3; c += 1)
        data[(y * width + x) * 3 + c] = mix(data[(from * width + column) * 3 + c] ?? 0, colour[c] ?? 0, share);
    }
  }
}
