import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Takes away what nobody holds any more. */
function collect(): void {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
}

/** Bytes of this process' heap that somebody holds. Stands still for a collection. */
export function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const LOOKS_AT_REST = 10;

/**
 * Bytes that are held once what nobody holds any more is gone: a baseline that has what was freed late hides as much of what
 * grows.
 */
export async function restingBytes(): Promise<number> {
  let least = Infinity;
  for (let looks = 0; looks < LOOKS_AT_REST; looks += 1) {
    least = Math.min(least, heldBytes());
    await new Promise((resolve) => setImmediate(resolve));
  }
  return least;
}

/**
 * Bytes that are held beyond `before`, with the content of buffers. Buffers are freed beside the program, some time after a
 * collection; so it looks again while there are more than `bound`.
 */
export async function heldBeyond(before: number, bound: number): Promise<number> {
  let bytes = Infinity;
  for (let tries = 0; tries < 100 && bytes > bound; tries += 1) {
    bytes = heldBytes() - before;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

/** Returns the bytes in use, including the content of buffers, which lies outside the heap. */
export function heldBytes(): number {
  collect();
  const { heapUsed: heap, arrayBuffers } = process.memoryUsage();
  return heap + arrayBuffers;
}
