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

/** The same with the content of buffers, which lies outside the heap. */
export function heldBytes(): number {
  collect();
  const { heapUsed: heap, arrayBuffers } = process.memoryUsage();
  return heap + arrayBuffers;
}
