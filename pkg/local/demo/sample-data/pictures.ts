import { type Colour, type Landscape, paint } from './landscapes.ts';
import { fractalNoise, hash } from './noise.ts';
import { pngOf, type Raster } from './png.ts';

const [WIDTH, HEIGHT] = [720, 480];

/** Photographs of an excursion, drawn by numbers. */
const LANDSCAPES: Readonly<Record<string, Landscape>> = {
  'Dawn over the ridge.png': {
    sky: [
      [60, 70, 120],
      [190, 120, 140],
      [250, 190, 140],
    ],
    sun: { x: 0.62, y: 0.52, radius: 0.05, colour: [255, 236, 190], glow: 0.75 },
    clouds: { colour: [255, 205, 180], seed: 3, amount: 0.52 },
    ridges: [
      { at: 0.72, height: 0.34, hills: 2.6, seed: 11, colour: [126, 104, 146], haze: [214, 160, 150] },
      { at: 0.84, height: 0.3, hills: 3.2, seed: 12, colour: [84, 74, 118], haze: [168, 122, 140] },
      { at: 0.98, height: 0.28, hills: 3, seed: 14, colour: [46, 44, 78], haze: [92, 76, 110] },
      { at: 1.06, height: 0.2, hills: 2, seed: 17, colour: [20, 22, 42], haze: [30, 30, 54], trees: 60 },
    ],
  },
  'Fjord at noon.png': {
    sky: [
      [70, 140, 206],
      [150, 200, 232],
      [222, 238, 244],
    ],
    clouds: { colour: [255, 255, 255], seed: 21, amount: 0.5 },
    ridges: [
      { at: 0.6, height: 0.36, hills: 2, seed: 22, colour: [130, 158, 184], haze: [190, 212, 226] },
      { at: 0.66, height: 0.4, hills: 1.7, seed: 25, colour: [82, 112, 118], haze: [140, 168, 168] },
      { at: 0.68, height: 0.2, hills: 2.4, seed: 29, colour: [40, 72, 62], haze: [74, 110, 92], trees: 90 },
    ],
    water: { at: 0.64, colour: [44, 92, 116] },
  },
  'Evening at the lake.png': {
    sky: [
      [36, 40, 92],
      [150, 78, 130],
      [244, 150, 110],
    ],
    sun: { x: 0.36, y: 0.55, radius: 0.045, colour: [255, 214, 150], glow: 0.8 },
    ridges: [
      { at: 0.66, height: 0.24, hills: 3.3, seed: 31, colour: [110, 70, 120], haze: [196, 110, 120] },
      { at: 0.65, height: 0.12, hills: 3, seed: 36, colour: [34, 26, 58], haze: [70, 44, 80], trees: 110 },
    ],
    water: { at: 0.64, colour: [40, 30, 74] },
  },
  'Dunes.png': {
    sky: [
      [108, 160, 206],
      [196, 212, 214],
      [248, 224, 186],
    ],
    ridges: [
      { at: 0.64, height: 0.14, hills: 1.6, seed: 41, colour: [226, 180, 128], haze: [238, 206, 160], octaves: 2 },
      { at: 0.8, height: 0.24, hills: 1.4, seed: 43, colour: [202, 142, 86], haze: [232, 186, 128], octaves: 2 },
      { at: 1.02, height: 0.36, hills: 1.1, seed: 48, colour: [164, 100, 56], haze: [216, 156, 96], octaves: 2 },
    ],
  },
  'Forest in the fog.png': {
    sky: [
      [206, 216, 214],
      [224, 230, 226],
      [236, 238, 232],
    ],
    ridges: [
      { at: 0.66, height: 0.16, hills: 2.4, seed: 51, colour: [168, 188, 184], haze: [222, 230, 226], trees: 54 },
      { at: 0.8, height: 0.18, hills: 2, seed: 52, colour: [112, 144, 138], haze: [206, 218, 212], trees: 36 },
      { at: 0.96, height: 0.2, hills: 2.2, seed: 55, colour: [56, 92, 84], haze: [160, 184, 174], trees: 24 },
      { at: 1.03, height: 0.16, hills: 1.6, seed: 59, colour: [20, 46, 42], haze: [60, 92, 82], trees: 15 },
    ],
  },
  'Stars above the camp.png': {
    sky: [
      [10, 14, 40],
      [24, 40, 84],
      [70, 96, 130],
    ],
    stars: 61,
    sun: { x: 0.78, y: 0.2, radius: 0.035, colour: [240, 240, 220], glow: 0.28 },
    ridges: [
      { at: 0.8, height: 0.32, hills: 2.2, seed: 62, colour: [30, 44, 82], haze: [60, 84, 116] },
      { at: 0.96, height: 0.22, hills: 2.6, seed: 66, colour: [14, 22, 46], haze: [30, 44, 72] },
      { at: 0.99, height: 0.16, hills: 2, seed: 68, colour: [6, 10, 22], haze: [10, 16, 32], trees: 34 },
    ],
  },
  'Snow on the pass.png': {
    sky: [
      [96, 152, 214],
      [170, 206, 236],
      [226, 238, 248],
    ],
    ridges: [
      { at: 0.74, height: 0.5, hills: 1.8, seed: 71, colour: [236, 242, 250], haze: [150, 176, 208] },
      { at: 0.9, height: 0.36, hills: 2.1, seed: 74, colour: [246, 250, 255], haze: [176, 198, 226] },
      { at: 1.04, height: 0.2, hills: 2.4, seed: 79, colour: [60, 84, 92], haze: [210, 224, 238], trees: 44 },
    ],
  },
  'Last light.png': {
    sky: [
      [18, 22, 48],
      [92, 44, 92],
      [236, 98, 84],
    ],
    clouds: { colour: [250, 130, 110], seed: 84, amount: 0.5 },
    sun: { x: 0.5, y: 0.6, radius: 0.07, colour: [255, 190, 120], glow: 0.7 },
    ridges: [{ at: 0.66, height: 0.08, hills: 5, seed: 81, colour: [52, 26, 60], haze: [90, 40, 76] }],
    water: { at: 0.64, colour: [60, 24, 66] },
  },
};

const mixed = (from: Colour, to: Colour, share: number): Colour => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

function raster(colourAt: (x: number, y: number) => Colour): Raster {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < WIDTH; x += 1) data.set(colourAt(x / HEIGHT, y / HEIGHT), (y * WIDTH + x) * 3);
  return { width: WIDTH, height: HEIGHT, data };
}

/** A map: heights in bands, a line between each two of them. */
function map(): Raster {
  const [sea, shore, land, peak]: readonly Colour[] = [
    [176, 208, 222],
    [236, 230, 206],
    [190, 208, 164],
    [206, 184, 160],
  ] as const;
  const BANDS = 16;
  return raster((x, y) => {
    const height = fractalNoise(x * 2.6, y * 2.6, 91, 4) * BANDS;
    const share = height / BANDS;
    const ground = share < 0.4 ? sea : share < 0.44 ? shore : mixed(land, peak, Math.min(1, (share - 0.44) * 2.6));
    const toLine = Math.abs(height - Math.round(height));
    const line = share < 0.4 ? 0 : Math.max(0, 1 - toLine * 11) * (Math.round(height) % 4 === 0 ? 0.75 : 0.35);
    return mixed(ground, [120, 92, 66], line);
  });
}

/** Cells of a leaf under a microscope: each point belongs to the nearest kernel, and walls lie between. */
function cells(): Raster {
  const SIZE = 9;
  const kernelAt = (i: number, j: number, seed: number): number => 0.12 + 0.76 * hash(i, j, seed);
  return raster((x, y) => {
    const [column, row] = [Math.floor(x * SIZE), Math.floor(y * SIZE)];
    let [nearest, second, id] = [9, 9, 0];
    for (let i = column - 1; i <= column + 1; i += 1) {
      for (let j = row - 1; j <= row + 1; j += 1) {
        const distance = Math.hypot(x * SIZE - i - kernelAt(i, j, 7), y * SIZE - j - kernelAt(i, j, 8));
        if (distance < nearest) [second, nearest, id] = [nearest, distance, hash(i, j, 9)];
        else if (distance < second) second = distance;
      }
    }
    const wall = Math.max(0, 1 - (second - nearest) * 9);
    const kernel = Math.max(0, 1 - nearest * 7) * 0.8;
    const grain = fractalNoise(x * 40, y * 40, 4, 2);
    const inside = mixed([206, 226, 150], [140, 186, 96], id * 0.7 + grain * 0.5);
    return mixed(mixed(inside, [66, 110, 60], wall), [120, 60, 120], kernel);
  });
}

export const PHOTOS: readonly string[] = Object.keys(LANDSCAPES);

const drawn = new Map<string, Promise<Buffer>>();

/** Draws a photograph, once: a lecture shows it too. */
export function photo(name: string): Promise<Buffer> {
  const png = drawn.get(name) ?? pngOf(paint(LANDSCAPES[name] ?? { sky: [[0, 0, 0]], ridges: [] }, WIDTH, HEIGHT));
  drawn.set(name, png);
  return png;
}
export const routeMap = (): Promise<Buffer> => pngOf(map());
export const leafCells = (): Promise<Buffer> => pngOf(cells());
