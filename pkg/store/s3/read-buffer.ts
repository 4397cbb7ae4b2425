import type { OnReadOpts, Socket } from 'node:net';

/** Larger reads take less CPU time; but a reader that pauses holds up to three chunks of this size. */
const READ_BYTES = 128 * 1024;

/** Pages that were never written take no memory: a process without downloads does not pay for it. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * How plain connections read objects: all of them into one buffer. Otherwise Node allocates 64 KiB for each read, and for a download of 256 MiB
 * V8 collects the whole heap about ten times, which is half of the server's CPU time.
 *
 * Invariants:
 * - Nothing refers to the buffer after the event that gives a part of it: Node's HTTP parser copies what it takes within the event, and where
 *   nobody takes it at once, a copy is put in the stream's own buffer.
 * - Reads do not overlap: on Linux and macOS, libuv reads and calls back in one step. TLS may decrypt one connection's bytes while another's
 *   are handled, so connections with TLS do not read this way.
 */
export const READ_INTO_ONE_BUFFER: OnReadOpts = {
  buffer,
  callback(this: Socket, length: number): boolean {
    const bytes = buffer.subarray(0, length);
    const isTaken = this.readableFlowing === true && this.readableLength === 0 && this.emit('data', bytes);
    return isTaken || this.push(Buffer.from(bytes));
  },
};
