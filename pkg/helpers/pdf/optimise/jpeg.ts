import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import decodeJpeg, { init as initDecoder } from '@jsquash/jpeg/decode.js';
import encodeJpeg, { init as initEncoder } from '@jsquash/jpeg/encode.js';

/** Rows from the top, four bytes per pixel: red, green, blue, and an unused one. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly components: number;
}

/** The codecs' own name for a raster; Node has no such class. */
class ImageData implements Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

/** Node's types lack it. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } };

let loaded: Promise<void> | undefined;
const load = (): Promise<void> => (loaded ??= loadCodecs());

async function loadCodecs(): Promise<void> {
  Object.assign(globalThis, { ImageData });
  const { resolve } = createRequire(import.meta.url);
  const compiled = async (file: string) => WebAssembly.compile(await readFile(resolve(`@jsquash/jpeg/codec/${file}`)));
  await initDecoder((await compiled('dec/mozjpeg_dec.wasm')) as never);
  await initEncoder((await compiled('enc/mozjpeg_enc.wasm')) as never);
}

export async function pixelsOfJpeg(bytes: Uint8Array): Promise<Pixels> {
  await load();
  return (await decodeJpeg(Uint8Array.from(bytes).buffer)) as Pixels;
}

/** `quality` is 1 to 100. */
export async function jpegOf(pixels: Pixels, { quality, isGray }: { quality: number; isGray: boolean }): Promise<Uint8Array> {
  await load();
  const encoded = await encodeJpeg(pixels as never, { quality, color_space: isGray ? 1 : 3 });
  return new Uint8Array(encoded);
}

/** Reads the frame header (ITU-T T.81 §B.2.2); returns undefined if the bytes are not a JPEG. */
export function jpegHeader(bytes: Uint8Array): JpegHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 10 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), components: bytes[at + 9] as number };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Each pixel of the smaller image is the weighted mean of the pixels that it covers. */
export function shrunk(pixels: Pixels, width: number, height: number): Pixels {
  const across = weights(pixels.width, width);
  const down = weights(pixels.height, height);
  const rows = new Float32Array(width * pixels.height * 3);
  for (let y = 0; y < pixels.height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const to = (y * width + x) * 3;
      for (const [from, share] of across[x] ?? []) {
        const at = (y * pixels.width + from) * 4;
        for (let band = 0; band < 3; band += 1) rows[to + band]! += share * (pixels.data[at + band] as number);
      }
    }
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      for (let band = 0; band < 3; band += 1) {
        let sum = 0;
        for (const [from, share] of down[y] ?? []) sum += share * (rows[(from * width + x) * 3 + band] as number);
        data[(y * width + x) * 4 + band] = sum;
      }
  return { data, width, height };
}

/** Returns, for each of `to` cells, the `from` cells that it covers and their shares. */
function weights(from: number, to: number): (readonly [number, number])[][] {
  const ratio = from / to;
  return Array.from({ length: to }, (_, cell) => {
    const [begin, end] = [cell * ratio, (cell + 1) * ratio];
    const first = Math.floor(begin);
    const last = Math.min(from - 1, Math.ceil(end) - 1);
    return Array.from({ length: last - first + 1 }, (_each, index) => {
      const position = first + index;
      return [position, (Math.min(end, position + 1) - Math.max(begin, position)) / ratio] as const;
    });
  });
}
