import { crc32 } from 'node:zlib';
import { PackedLog } from './packed-log.ts';
import { dataDescriptor, directoryEnd, directoryRecord, localHeader, UINT16_MAX } from './zip-format.ts';

/** An entry of a ZIP archive; folders and files come in the order in which they are unpacked. */
export interface ZipEntry {
  /** Parts are separated by `/`, without one at the beginning; a folder's path ends in `/`. At most 65,535 bytes of UTF-8. */
  readonly path: string;
  readonly modifiedAt: Date;
  /** Left out for a folder. */
  readonly file?: {
    /** The size in bytes; the archive is cut off if the content has another size. */
    readonly size: number;
    /** Called when the entry's turn comes. */
    readonly content: AsyncIterable<Buffer>;
  };
}

/**
 * Yields a ZIP archive while its files are read. Names are in UTF-8, Zip64 is used if needed, and nothing is compressed, since
 * most files are compressed already. (PKWARE APPNOTE 6.3.10; sizes and CRC-32 of a file follow its content, §4.3.9.)
 *
 * Nothing is read before it is requested. Memory holds one chunk of a file, and for each entry a packed record for the directory
 * at the end: about 30 bytes, plus the part of its name that differs from the previous one. `hold` is called with the bytes of
 * these records, and may throw.
 */
export async function* writeZip(
  entries: AsyncIterable<ZipEntry>,
  hold: (bytes: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  const directory = new PackedLog();
  let [offset, count] = [0, 0];
  for await (const entry of entries) {
    const name = Buffer.from(entry.path);
    if (name.length > UINT16_MAX) throw new RangeError('a path in an archive is longer than 65,535 bytes');
    const { modifiedAt, file } = entry;
    const written = { name, modifiedAt, isFolder: !file, size: file?.size ?? 0, crc: 0, isKnownBefore: !file };
    const begin = offset;
    const header = localHeader(written);
    yield header;
    offset += header.length;
    if (file) {
      let bytes = 0;
      for await (const chunk of file.content) {
        written.crc = crc32(chunk, written.crc);
        bytes += chunk.length;
        if (bytes > written.size) break;
        yield chunk;
      }
      if (bytes !== written.size) throw new Error(`a file of an archive did not have its ${written.size} bytes`);
      const descriptor = dataDescriptor(written);
      yield descriptor;
      offset += bytes + descriptor.length;
    }
    directory.add(directoryRecord(written, begin));
    hold(directory.heldBytes);
    count += 1;
  }
  yield* directory.drain();
  yield directoryEnd(count, directory.bytes, offset);
}
