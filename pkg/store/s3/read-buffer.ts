import type { OnReadOpts, Socket } from 'node:net';

/**
 * Reads of 32 KiB take the least CPU time. With 128 KiB it is twice as much, and V8 collects 60 MiB more garbage. A download
 * whose reader pauses holds three chunks of this size, so many downloads read less at once.
 */
const READ_BYTES = { most: 32 * 1024, least: 16 * 1024 } as const;
/** The chunks of a paused download: in the store's reply, in Download, and in the client's connection. */
const CHUNKS_HELD = 3;
/** The limit of paused downloads together, until there are so many that each reads the least. */
const HELD_BYTES = 8 << 20;

/** For connections that read objects: bytes are passed on or the connection waits, so that nothing accumulates on the way. */
export const READ_AHEAD_BYTES = 1;

const buffer = Buffer.allocUnsafeSlow(READ_BYTES.most);

/** Objects that are currently being read. */
let reading = 0;
export const beginReading = (): number => (reading += 1);
export const endReading = (): number => (reading -= 1);

export const readBytes = (objects: number): number =>
  Math.max(READ_BYTES.least, Math.min(READ_BYTES.most, Math.floor(HELD_BYTES / CHUNKS_HELD / Math.max(1, objects))));

/**
 * Makes all plain connections read objects into one buffer. Otherwise Node allocates 64 KiB for each read, and for a download of
 * 256 MiB V8 collects the whole heap about ten times, which is half of the server's CPU time.
 *
 * Invariants:
 * - Nothing refers to the buffer after the event that passes a part of it: Node's HTTP parser copies its bytes within the event,
 *   and bytes that are not read at once are copied into the stream's own buffer.
 * - Reads do not overlap: on Linux and macOS, libuv reads and calls back in one step. TLS may decrypt one connection's bytes
 *   while another's are processed, so connections with TLS do not read in this way.
 */
export const READ_INTO_ONE_BUFFER: OnReadOpts = {
  buffer: () => buffer.subarray(0, readBytes(reading)),
  callback(this: Socket, length: number): boolean {
    const bytes = buffer.subarray(0, length);
    const isTaken = this.readableFlowing === true && this.readableLength === 0 && this.emit('data', bytes);
    return isTaken || this.push(Buffer.from(bytes));
  },
};
