import { hash as sha256 } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import type { Blobs, NewObjects } from '../blobs/blobs.ts';
import { alreadyReserved } from '../blobs/quota-reservation.service.ts';
import { uploadType } from '../uploads/uploads.schema.ts';
import { UNKNOWN_TYPE } from '../blobs/media-type.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { Refused } from './archive-entry.ts';
import type { ImportItem, Staged } from './imports.sql.ts';
import type { Reading } from './reading.ts';

/** Contents that are sent to the store at once. Only the last is larger than what Blobs holds of a small one. */
const STORED_AT_ONCE = 8;

/** The owner of the contents, and where they are stored. */
export interface Storing {
  readonly uuid: string;
  readonly userId: number;
  readonly userUuid: string;
  readonly blobs: Blobs;
  readonly reading: Reading;
  readonly signal: AbortSignal;
}

/** An entry by which its archive is refused. */
export class EntryRefused extends Error {
  readonly item: ImportItem;
  readonly refused: Refused;

  constructor(item: ImportItem, refused: Refused) {
    super(refused.message);
    this.item = item;
    this.refused = refused;
  }
}

/** Stores contents as the reader sends them, one after the other; small ones are sent to the store while the next are read. */
export async function storeAll(
  its: Storing,
  reader: ArchiveReader,
  items: readonly ImportItem[],
  into: NewObjects,
): Promise<Staged[]> {
  const storing = new Set<Promise<void>>();
  const staged: Staged[] = [];
  const failed = new AbortController();
  reader.request(items.map(({ name, entry }) => ({ ...entry, name })));
  try {
    for (const item of items) {
      failed.signal.throwIfAborted();
      if (storing.size >= STORED_AT_ONCE) await Promise.race(storing);
      const { promise: isRead, resolve: readToEnd } = Promise.withResolvers<void>();
      const stored = storeOne(its, reader, item, { into, failed: failed.signal, readToEnd }).then(
        (content) => void staged.push(content),
      );
      const ended = stored.catch((error: unknown) => failed.abort(error)).finally(() => storing.delete(ended));
      storing.add(ended);
      await Promise.race([isRead, ended]);
    }
  } finally {
    // All have ended before anything is deleted: none writes an object afterwards.
    await Promise.allSettled(storing);
  }
  failed.signal.throwIfAborted();
  return staged;
}

const EMPTY = { key: null, checksum: sha256('sha256', ''), isEncrypted: false };

async function storeOne(
  { blobs, uuid, userId, userUuid, reading, signal }: Storing,
  reader: ArchiveReader,
  item: ImportItem,
  to: { readonly into: NewObjects; readonly failed: AbortSignal; readonly readToEnd: () => void },
): Promise<Staged> {
  const { id, entry, name } = item;
  const { into, failed } = to;
  const contentType = uploadType({ mimeType: UNKNOWN_TYPE }, entry.names.at(-1) ?? '');
  let refused: unknown;
  const content = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of reader.content({ ...entry, name })) {
        reading.ahead += bytes.length;
        yield bytes;
      }
    } catch (error) {
      refused = error;
      throw error;
    } finally {
      to.readToEnd();
    }
  };
  try {
    if (entry.size === 0) {
      for await (const _ of content()) continue;
      return { id, size: 0, ...EMPTY, mimeType: contentType };
    }
    const quota = { ownerId: userId, remainingBytes: Infinity, isOfTenant: false };
    const options = { into, quota, reservation: alreadyReserved(uuid), contentType, uploader: userUuid, signal };
    // Another content's failure ends the reading of this one. It does not interrupt the request of a content that is already
    // read: the store may finish it after the object was deleted.
    const source = addAbortSignal(failed, Readable.from(content(), { objectMode: false }));
    const { blob, mimeType } = await blobs.store(await blobs.newKey(), source, options);
    const { key, size, checksum, isEncrypted } = blob;
    return { id, size, key, checksum, isEncrypted, mimeType };
  } catch (error) {
    const cause = refused ?? error;
    throw cause instanceof Refused ? new EntryRefused(item, cause) : cause;
  }
}
