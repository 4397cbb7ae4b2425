import { deflateRawSync, inflateRawSync } from 'node:zlib';

const PIECE_BYTES = 64 * 1024;
/** The fastest level suffices: repetitions in paths are literal. */
const LEVEL = 1;
/** Bytes of the length in front of each stored piece. */
const LENGTH_BYTES = 4;

/**
 * A log of records that are written once and read in order. It compresses them in memory, so that similar records, such as the
 * paths of a tree, take little space.
 */
export class PackedLog {
  readonly #packed: Buffer[] = [];
  #open: Buffer[] = [];
  #openBytes = 0;
  #packedBytes = 0;
  /** Bytes of all records, unpacked. */
  bytes = 0;

  /** The bytes in memory now. */
  get heldBytes(): number {
    return this.#packedBytes + this.#openBytes;
  }

  add(record: Buffer): void {
    this.#open.push(record);
    this.#openBytes += record.length;
    this.bytes += record.length;
    if (this.#openBytes >= PIECE_BYTES) this.#packOpen();
  }

  #packOpen(): void {
    if (this.#openBytes === 0) return;
    const packed = deflateRawSync(Buffer.concat(this.#open), { level: LEVEL });
    // A copy, because zlib returns a slice of a larger buffer, which the slice would keep in memory.
    const piece = Buffer.allocUnsafeSlow(packed.length);
    packed.copy(piece);
    this.#packed.push(piece);
    this.#packedBytes += piece.length;
    this.#open = [];
    this.#openBytes = 0;
  }

  /** Returns the whole log packed, to be stored; `unpack` restores the log from it. */
  pack(): Buffer {
    this.#packOpen();
    return Buffer.concat(
      this.#packed.flatMap((piece) => {
        const length = Buffer.alloc(LENGTH_BYTES);
        length.writeUInt32LE(piece.length);
        return [length, piece];
      }),
    );
  }

  /** The log keeps a reference to `packed`. */
  static unpack(packed: Buffer): PackedLog {
    const log = new PackedLog();
    for (let at = 0; at < packed.length;) {
      const from = at + LENGTH_BYTES;
      at = from + packed.readUInt32LE(at);
      const piece = packed.subarray(from, at);
      log.#packed.push(piece);
      log.#packedBytes += piece.length;
      log.bytes += inflateRawSync(piece).length;
    }
    return log;
  }

  /** Yields all records in their order, a piece of whole records at a time. */
  *pieces(): Generator<Buffer> {
    for (const piece of this.#packed) yield inflateRawSync(piece);
    if (this.#openBytes > 0) yield Buffer.concat(this.#open);
  }

  /** Reads everything for the last time: each piece is released when the next one is requested. */
  *drain(): Generator<Buffer> {
    for (const [at, piece] of this.#packed.entries()) {
      yield inflateRawSync(piece);
      this.#packed[at] = Buffer.alloc(0);
    }
    if (this.#openBytes > 0) yield Buffer.concat(this.#open);
  }
}
