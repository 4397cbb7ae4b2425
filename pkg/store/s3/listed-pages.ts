import { ReplyMalformed } from './errors.ts';
import { type XmlHandler, XmlReader } from './xml-reader.ts';

/** The most entries of a page (S3 API, ListObjectsV2 and ListMultipartUploads). */
const MOST_ENTRIES = 1_000;
const RECORD_DEPTH = 2;

/** Reads a reply as it arrives. */
export interface ReplyReader<T> {
  write(chunk: Buffer): void;
  /** Returns the content of the reply, once it has ended. Throws ReplyMalformed. */
  end(): T;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly lastModified: Date;
}

interface ObjectPage {
  readonly objects: readonly ListedObject[];
  readonly nextToken: string | undefined;
}

interface UploadPage {
  readonly uploads: readonly { readonly key: string; readonly id: string }[];
  readonly isTruncated: boolean;
}

/** The fields of a record, by their names. */
type Fields = Readonly<Record<string, string | undefined>>;

/** A reply of `record` elements with fields, and of fields beside them. */
class Records<Entry> implements XmlHandler {
  readonly #record: string;
  readonly #entryOf: (fields: Fields) => Entry;
  readonly #reader: XmlReader;
  readonly entries: Entry[] = [];
  readonly fields: Record<string, string | undefined> = {};
  #current: Record<string, string | undefined> = {};

  constructor(record: string, entryOf: (fields: Fields) => Entry) {
    this.#record = record;
    this.#entryOf = entryOf;
    this.#reader = new XmlReader(this);
  }

  write(chunk: Buffer): void {
    this.#reader.write(chunk);
  }

  finish(): void {
    this.#reader.end();
  }

  leaf(name: string, text: string, depth: number): void {
    if (depth === RECORD_DEPTH) this.fields[name] = text;
    else if (depth === RECORD_DEPTH + 1) this.#current[name] = text;
  }

  end(name: string, depth: number): void {
    if (depth !== RECORD_DEPTH) return;
    const fields = this.#current;
    this.#current = {};
    if (name !== this.#record) return;
    if (this.entries.push(this.#entryOf(fields)) > MOST_ENTRIES)
      throw new ReplyMalformed(`a page has more than ${MOST_ENTRIES} entries`);
  }
}

export function objectPage(): ReplyReader<ObjectPage> {
  const records = new Records('Contents', ({ Key = '', Size = '0', LastModified = '' }) => ({
    key: Key,
    size: Number(Size),
    lastModified: new Date(Date.parse(LastModified) || 0),
  }));
  return {
    write: (chunk) => records.write(chunk),
    end: () => {
      records.finish();
      return { objects: records.entries, nextToken: records.fields['NextContinuationToken'] || undefined };
    },
  };
}

export function uploadPage(): ReplyReader<UploadPage> {
  const records = new Records('Upload', ({ Key = '', UploadId = '' }) => ({ key: Key, id: UploadId }));
  return {
    write: (chunk) => records.write(chunk),
    end: () => {
      records.finish();
      return { uploads: records.entries, isTruncated: records.fields['IsTruncated'] === 'true' };
    },
  };
}
