import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

/** Rows from the top, three bytes a pixel: red, green, blue. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const [BITS, TRUECOLOUR, BYTES_PER_PIXEL] = [8, 2, 3];
/** Filter type Up: each byte is the difference to the one above, which is small in a picture of gradients. */
const UP = 2;
const compress = promisify(deflate);

/** Writes a PNG (W3C PNG, Third Edition). */
export async function pngOf({ width, height, data }: Raster): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BITS;
  header[9] = TRUECOLOUR;
  const pixels = await compress(filtered(width * BYTES_PER_PIXEL, height, data), { level: 4 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function filtered(stride: number, height: number, data: Uint8Array): Uint8Array {
  const rows = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y += 1) {
    const [to, from] = [y * (stride + 1), y * stride];
    rows[to] = UP;
    for (let at = 0; at < stride; at += 1)
      rows[to + 1 + at] = (data[from + at] ?? 0) - (y === 0 ? 0 : (data[from - stride + at] ?? 0));
  }
  return rows;
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
