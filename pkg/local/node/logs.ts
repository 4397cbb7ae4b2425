import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface LogQuery {
  /** The number of last lines; undefined: all lines. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly follow: boolean;
}

const CHUNK_BYTES = 64 << 10;
const POLL_MS = 100;

/**
 * Returns the bytes of a container's log; with `follow` also later ones, until `isOver`. Reads a truncated file from its new
 * start.
 */
export async function* readLog(path: string, query: LogQuery, isOver: () => boolean): AsyncGenerator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let at = query.tailLines === undefined ? 0 : startOfTail(file, query.tailLines);
    let left = query.limitBytes ?? Infinity;
    while (left > 0) {
      const over = isOver(); // Checked before the read, so that the last words of a process that just ended are read.
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, left));
      const count = readSync(file, chunk, 0, chunk.length, at);
      at += count;
      left -= count;
      if (count > 0) yield chunk.subarray(0, count);
      else if (!query.follow || over) return;
      else {
        if (fstatSync(file).size < at) at = 0;
        await sleep(POLL_MS);
      }
    }
  } finally {
    closeSync(file);
  }
}

/** Returns the offset at which the last `lines` lines begin. */
function startOfTail(file: number, lines: number): number {
  const { size } = fstatSync(file);
  let found = 0;
  for (let end = size; end > 0;) {
    const begin = Math.max(0, end - CHUNK_BYTES);
    const chunk = Buffer.alloc(end - begin);
    readSync(file, chunk, 0, chunk.length, begin);
    for (let index = chunk.length - 1; index >= 0; index--) {
      // The final newline does not begin another line.
      if (chunk[index] === 0x0a && begin + index !== size - 1 && ++found === lines) return begin + index + 1;
    }
    if (lines === 0) return size;
    end = begin;
  }
  return 0;
}
