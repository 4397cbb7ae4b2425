/** A child process: `main.ts <input> <output> <options as JSON>`. It optimises one PDF and prints one line of JSON. */
import { readFile, writeFile } from 'node:fs/promises';
import { runConversion } from '../conversion-process.ts';
import { optimise, type Quality } from './optimise.ts';

await runConversion(
  async (input, output, options: { quality: Quality; allowSigned: boolean; maxPages: number; imagesUntil: number }) => {
    const { bytes, pages, isPlain } = await optimise(await readFile(input), options);
    await writeFile(output, bytes);
    return { pages, isPlain };
  },
);
