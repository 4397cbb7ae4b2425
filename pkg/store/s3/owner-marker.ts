import type { Readable } from 'node:stream';
import { MARKER_KEY } from './content-key.ts';
import { ObjectMissing } from './errors.ts';
import type { Objects } from './objects.ts';

/** More than any marker has. */
const MAX_BYTES = 1024;
/** Limit of the whole operation: a store that sends a byte now and then delays nobody. */
const MARKER_TIMEOUT_MS = 10_000;

const inTime = (objects: Objects): Objects => objects.until(AbortSignal.timeout(MARKER_TIMEOUT_MS));

/** Returns the owner of the objects here; null if none is recorded. Throws StoreUnavailableError after at most 10 s. */
export async function markerOf(objects: Objects): Promise<string | null> {
  try {
    const { body } = await inTime(objects).get(MARKER_KEY);
    return await textOf(body);
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}

/** Throws StoreUnavailableError after at most 10 s. */
export const writeMarker = async (objects: Objects, text: string): Promise<void> =>
  void (await inTime(objects).put(MARKER_KEY, Buffer.from(text), { contentType: 'text/plain' }));

/** Writes the marker unless there is one. Returns the resulting text of the marker. */
export async function writeFirstMarker(objects: Objects, text: string): Promise<string> {
  const before = await markerOf(objects);
  if (before !== null) return before;
  if (await inTime(objects).putIfAbsent(MARKER_KEY, Buffer.from(text), { contentType: 'text/plain' })) return text;
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
