/** What the reader of an archive and its parent say to each other: a letter, the length of what follows in four bytes, and that. */
export interface Frame {
  readonly type: string;
  readonly payload: Buffer;
}

const HEAD_BYTES = 5;
/** Of one frame, so that neither side holds more of the other. */
export const FRAME_MAX_BYTES = 1024 * 1024;

export function frame(type: string, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.write(type, 0, 1, 'latin1');
  bytes.writeUInt32LE(payload.length, 1);
  payload.copy(bytes, HEAD_BYTES);
  return bytes;
}

export const jsonFrame = (type: string, value: unknown): Buffer => frame(type, Buffer.from(JSON.stringify(value)));

/** The frames of a stream. Throws where one is larger than FRAME_MAX_BYTES. */
export async function* framesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame, undefined> {
  let pending: Buffer[] = [];
  let bytes = 0;
  let wanted = HEAD_BYTES;
  for await (const chunk of stream) {
    pending.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) continue;
    let whole = pending.length === 1 ? chunk : Buffer.concat(pending, bytes);
    wanted = HEAD_BYTES;
    while (whole.length >= HEAD_BYTES) {
      const length = whole.readUInt32LE(1);
      if (length > FRAME_MAX_BYTES) throw new RangeError(`a frame of ${length} bytes`);
      wanted = HEAD_BYTES + length;
      if (whole.length < wanted) break;
      yield { type: String.fromCharCode(whole[0] ?? 0), payload: whole.subarray(HEAD_BYTES, wanted) };
      whole = whole.subarray(wanted);
      wanted = HEAD_BYTES;
    }
    pending = whole.length === 0 ? [] : [whole];
    bytes = whole.length;
  }
  return undefined;
}
