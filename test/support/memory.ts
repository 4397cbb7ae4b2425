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

/**
 * Bytes that are held beyond `before`, with the content of buffers. Buffers are freed beside the program, some time after a collection; so it looks
 * again while there are more than `bound`.
 */
export async function heldBeyond(before: number, bound: number): Promise<number> {
  let bytes = Infinity;
  for (let tries = 0; tries < 100 && bytes > bound; tries += 1) {
    bytes = heldBytes() - before;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

/** The same with the content of buffers, which lies outside the heap. */
export function heldBytes(): number {
  collect();
  const { heapUsed: heap, arrayBuffers } = process.memoryUsage();
  return heap + arrayBuffers;
}
