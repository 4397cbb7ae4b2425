import { crc32, deflateRawSync } from 'node:zlib';

/** Values that a header may state instead of the true ones. */
export interface Said {
  readonly name?: string | Buffer;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly packed?: number;
  readonly size?: number;
}

/** An entry of an archive, as a test wants it. */
export interface ZipEntry {
  /** A text is written in UTF-8, without the flag. */
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Default: deflate where there is content. */
  readonly method?: number;
  readonly flags?: number;
  /** The Unix mode, with the type. */
  readonly mode?: number;
  /** Extra fields of both headers. */
  readonly extra?: Buffer;
  /** The bytes in the archive, where they are not those of the content. */
  readonly packed?: Buffer;
  /** Sizes and CRC behind the content, as streams are written. */
  readonly descriptor?: boolean;
  /** Sizes in the zip64 field, in both headers. */
  readonly zip64?: boolean;
  readonly local?: Said;
  readonly central?: Said & { readonly offset?: number };
}

export interface ZipOptions {
  readonly comment?: Buffer;
  readonly prefix?: Buffer;
  /** The end of zip64 and its locator. */
  readonly zip64?: boolean;
  readonly count?: number;
  readonly disk?: number;
  readonly directoryOffset?: number;
  /** Bytes of the last content that are not here: whoever sends the archive writes them before the central directory. */
  readonly left?: number;
}

const bytesOf = (text: string | Buffer): Buffer => (Buffer.isBuffer(text) ? text : Buffer.from(text));

const numbers = (...fields: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer =>
  Buffer.concat(
    fields.map(([bytes, value]) => {
      const buffer = Buffer.alloc(bytes);
      if (bytes === 2) buffer.writeUInt16LE(value);
      else if (bytes === 4) buffer.writeUInt32LE(value);
      else buffer.writeBigUInt64LE(BigInt(value));
      return buffer;
    }),
  );

export const extraField = (id: number, data: Buffer): Buffer => Buffer.concat([numbers([2, id], [2, data.length]), data]);

/** The Unicode path field of Info-ZIP for a name. */
export const unicodePath = (name: Buffer, path: string, crc = crc32(name)): Buffer =>
  extraField(0x7075, Buffer.concat([Buffer.from([1]), numbers([4, crc]), Buffer.from(path)]));

const SHORT = 0xffffffff;

/** The bytes of an archive; nothing of it needs to be true. */
export function zipBytes(entries: readonly ZipEntry[], options: ZipOptions = {}): Buffer {
  const pieces: Buffer[] = [options.prefix ?? Buffer.alloc(0)];
  let at = 0;
  const centrals: Buffer[] = [];
  for (const entry of entries) {
    const content = bytesOf(entry.content ?? '');
    const method = entry.method ?? (content.length > 0 ? 8 : 0);
    const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content);
    const truth = {
      name: entry.name,
      flags: (entry.flags ?? 0) | (entry.descriptor ? 8 : 0),
      method,
      crc: crc32(content),
      packed: packed.length,
      size: content.length,
    };
    const local = { ...truth, ...(entry.descriptor ? { crc: 0, packed: 0, size: 0 } : {}), ...entry.local };
    const offset = at;
    const extra = entry.extra ?? Buffer.alloc(0);
    const headOf = (said: typeof truth): Buffer =>
      numbers(
        [2, said.flags],
        [2, said.method],
        [4, 0x58215821],
        [4, said.crc],
        [4, entry.zip64 ? SHORT : said.packed],
        [4, entry.zip64 ? SHORT : said.size],
      );
    const extraOf = (said: typeof truth): Buffer =>
      entry.zip64 ? Buffer.concat([extraField(1, numbers([8, said.size], [8, said.packed])), extra]) : extra;
    const [localName, localExtra] = [bytesOf(local.name), extraOf(local)];
    const written = [
      numbers([4, 0x04034b50], [2, 20]),
      headOf(local),
      numbers([2, localName.length], [2, localExtra.length]),
      localName,
      localExtra,
      packed,
      ...(entry.descriptor ? [numbers([4, 0x08074b50], [4, truth.crc], [4, packed.length], [4, content.length])] : []),
    ];
    pieces.push(...written);
    at += written.reduce((sum, { length }) => sum + length, 0);
    const central = { ...truth, offset, ...entry.central };
    const [centralName, centralExtra] = [bytesOf(central.name), extraOf(central)];
    centrals.push(
      numbers([4, 0x02014b50], [2, entry.mode === undefined ? 20 : 0x0314], [2, 20]),
      headOf(central),
      numbers(
        [2, centralName.length],
        [2, centralExtra.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, (entry.mode ?? 0) * 65_536],
        [4, central.offset],
      ),
      centralName,
      centralExtra,
    );
  }
  at += options.left ?? 0;
  const directory = Buffer.concat(centrals);
  const start = options.directoryOffset ?? at;
  const count = options.count ?? entries.length;
  const end64 = options.zip64
    ? [
        numbers([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, options.disk ?? 0], [4, 0], [8, count], [8, count]),
        numbers([8, directory.length], [8, start]),
        numbers([4, 0x07064b50], [4, 0], [8, at + directory.length], [4, 1]),
      ]
    : [];
  const comment = options.comment ?? Buffer.alloc(0);
  const short = (value: number, most: number): number => (options.zip64 ? most : Math.min(value, most));
  const end = numbers(
    [4, 0x06054b50],
    [2, options.zip64 ? 0 : (options.disk ?? 0)],
    [2, 0],
    [2, short(count, 65_535)],
    [2, short(count, 65_535)],
    [4, short(directory.length, SHORT)],
    [4, short(start, SHORT)],
    [2, comment.length],
  );
  return Buffer.concat([...pieces, directory, ...end64, end, comment]);
}
