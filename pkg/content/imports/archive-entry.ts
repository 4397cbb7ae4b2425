/** An entry as the central directory of an archive describes it. */
export interface ListedEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  /** Bytes in the archive. */
  readonly packed: number;
  /** Bytes of the content. */
  readonly size: number;
  /** Offset of its local header. */
  readonly offset: number;
  /** Offset of the next structure in the archive. */
  readonly end: number;
  /** CRC-32 of its name's bytes. */
  readonly nameCrc: number;
  /** Its type and mode, where it was made by Unix; else 0. */
  readonly mode: number;
}

export interface ListRequest {
  /** Size of the archive, bytes. */
  readonly size: number;
  readonly encoding: string;
  readonly most: number;
  readonly mostDirectoryBytes: number;
}

export interface OpenRequest {
  /** Its size in bytes. */
  readonly archive: number;
  readonly entry: ListedEntry;
}

/** Why an archive is refused, for people, after `The archive`. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

export const CORRUPT = 'is not a zip archive, or is corrupt';
