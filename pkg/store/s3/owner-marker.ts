import { addAbortSignal, type Readable } from 'node:stream';
import { MARKER_KEY } from './content-key.ts';
import { ObjectMissing } from './errors.ts';
import type { Objects } from './objects.ts';

/** More than any marker has. */
const MAX_BYTES = 1024;

/** Whose objects lie here; null: nobody has said so. */
export async function markerOf(objects: Objects, signal?: AbortSignal): Promise<string | null> {
  try {
    const { body } = await objects.get(MARKER_KEY, signal ? { signal } : {});
    return await textOf(signal ? addAbortSignal(signal, body) : body);
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}

export const writeMarker = async (objects: Objects, text: string, signal?: AbortSignal): Promise<void> =>
  void (await objects.put(MARKER_KEY, Buffer.from(text), { contentType: 'text/plain', ...(signal ? { signal } : {}) }));

/** Writes the marker unless there is one. Returns the marker's text afterwards. */
export async function writeFirstMarker(objects: Objects, text: string): Promise<string> {
  const before = await markerOf(objects);
  if (before !== null) return before;
  if (await objects.putIfAbsent(MARKER_KEY, Buffer.from(text), { contentType: 'text/plain' })) return text;
  return (await markerOf(objects)) ?? '';
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_BYTES);
}
