import { createCipheriv, createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';

/**
 * Names as people give them: several scripts, spaces, quotes, an emoji, a decomposed accent, no suffix, a leading dot, a long
 * one.
 */
const NAMES = [
  'Überblick Äpfel.txt',
  'Отчёт за год.txt',
  '講義ノート.txt',
  'مذكرات المحاضرة.txt',
  'שיעור ראשון.txt',
  'व्याख्यान.txt',
  '강의 노트.txt',
  'Cafe\u0301 decomposed.txt',
  '🎓 thesis final (2).txt',
  'it\'s a "quoted" name; really.txt',
  'semi;colon,comma=equals&amp%20.txt',
  '.hidden',
  'no suffix',
  `${'long-'.repeat(49)}name.txt`,
];

/** Bytes that look random and are the same for the same seed, as a stream of any length. */
function* bytesOf(seed: string, length: number): Generator<Buffer> {
  const key = createHash('sha256').update(seed).digest();
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(1 << 20);
  for (let left = length; left > 0; left -= zeros.length)
    yield cipher.update(left >= zeros.length ? zeros : zeros.subarray(0, left));
}

function content(index: number, name: string): Buffer {
  const noise = Buffer.concat([...bytesOf(name, 1 + ((index * 7919) % 300_000))]);
  if (name.endsWith('.pdf')) return Buffer.concat([Buffer.from('%PDF-1.7\n'), noise, Buffer.from('\n%%EOF\n')]);
  if (name.endsWith('.png')) return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), noise]);
  return Buffer.from(`${name}\n`.repeat(1 + (index % 500)));
}

/**
 * Fills a folder from a seed: PDFs, images, texts, names in several scripts, an empty file, and `big.bin`. The same each time.
 */
export async function makeFolder(folder: string, size: { files: number; bigBytes: number }): Promise<void> {
  const plain = Array.from(
    { length: size.files - NAMES.length - 1 },
    (_, index) => `paper ${index + 1}.${['pdf', 'png', 'txt'][index % 3]}`,
  );
  for (const [index, name] of [...NAMES, ...plain].entries()) await writeFile(join(folder, name), content(index, name));
  await writeFile(join(folder, 'empty.txt'), '');
  await pipeline(Readable.from(bytesOf('big', size.bigBytes)), createWriteStream(join(folder, 'big.bin')));
}
