/**
 * A child process: `main.ts <input> <output> <options as JSON>`. It prints the texts of a PDF as one line of JSON, reads the same
 * number of translations as one line, writes the translated PDF, and prints the outcome.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { runConversion } from '../conversion-process.ts';
import { translatePdf } from './replace-text.ts';

const lines = createInterface({ input: process.stdin });

async function translate(texts: readonly string[]): Promise<readonly string[]> {
  process.stdout.write(`${JSON.stringify({ texts })}\n`);
  for await (const line of lines) return JSON.parse(line) as string[];
  throw new Error('no translations came');
}

await runConversion(async (input, output, options: { target: string; maxPages: number }) => {
  const { bytes, pages } = await translatePdf(await readFile(input), { ...options, translate });
  await writeFile(output, bytes);
  return { pages };
});
lines.close();
process.stdin.destroy();
