import type { Sql } from '../../store/postgres/pool.ts';
import { bucketName } from '../../store/s3/admin.ts';
import { isContentKey, MARKER_KEY } from '../../store/s3/content-key.ts';
import type { StoredObject } from '../../store/s3/objects.ts';
import { markerOf } from '../../store/s3/owner-marker.ts';
import { lastWriteOf } from '../../store/s3/upload-day.ts';
import type { TenantStorage } from '../../store/tenant-resources.ts';
import { type Read, readWhole } from '../blobs/read-whole.ts';
import { writeCrc } from '../model/files/crc.sql.ts';
import type { Finding } from './faults.ts';
import { isNamed, namedAmong, recount, someVersions, type StoredVersion, usageAfter, versionsAfter } from './integrity.sql.ts';

const ROWS_AT_ONCE = 1_000;
const KEYS_AT_ONCE = 500;
const USERS_AT_ONCE = 100;
/** Limit for each kind. A lost bucket has as many faults as there are versions; nobody reads more of them. */
const FAULTS_MAX = 1_000;

export interface Checked {
  readonly slug: string;
  /** Runs `fn` in one transaction of the tenant's role. */
  transaction<T>(fn: (tx: Sql) => Promise<T>): Promise<T>;
  /** Does the same, and invalidates cached users, which have their used bytes. */
  recounting(fn: (tx: Sql) => Promise<void>): Promise<void>;
  readonly storage: Pick<TenantStorage, 'objects' | 'marker' | 'isNamed'>;
  readonly now: Date;
  readonly signal: AbortSignal;
}

export interface CheckOptions {
  /** True to repair faults that have only one possible repair: delete objects without a row, and recount usage. */
  readonly repair: boolean;
  /** Versions whose bytes are read and hashed, of at most `maxBytes` each. */
  readonly sample: { readonly versions: number | 'all'; readonly maxBytes: number };
}

/**
 * Compares a tenant's rows with its objects, and yields each fault as it is found.
 *
 * Invariants:
 * - Rows and objects are read in the order of their keys, page by page: memory does not grow with the tenant.
 * - A suspected fault is checked again before it is reported, since the tenant keeps working meanwhile. An object is written
 *   before its row and deleted after it, so an object that is missing while its row exists has been lost.
 * - An object without a row counts only if no upload can be about to name it. It is deleted only if the storage location is
 *   marked as the tenant's.
 * - If the check may repair and the content that it reads is intact, a missing CRC-32 is recorded.
 * - Nothing else is deleted. A version without its object stays, so that the object can be put back. An object that Carrel did
 *   not write is a fault in a bucket of the platform, where only the tenant's own key can have put it. In a bucket that a tenant
 *   named, it is none.
 */
export async function* checkIntegrity(checked: Checked, { repair, sample }: CheckOptions): AsyncGenerator<Finding> {
  yield* checkObjects(checked, repair);
  yield* checkSample(checked, sample, repair);
  yield* checkUsage(checked, repair);
}

async function* checkObjects(checked: Checked, repair: boolean): AsyncGenerator<Finding> {
  const { objects, marker } = checked.storage;
  const isOwn = marker !== '' && (await markerOf(objects)) === marker;
  const lost = new Bound();
  const unowned = new Unowned(checked, repair && isOwn);
  const versions = versionsInOrder(checked);
  let version = await versions.next();
  for await (const object of objects.list()) {
    checked.signal.throwIfAborted();
    for (; !version.done && isBefore(version.value.key, object.key); version = await versions.next())
      yield* lost.atMost(await missing(checked, version.value));
    if (version.done || version.value.key !== object.key) yield* await unowned.add(object);
    // Versions that share an object follow each other.
    for (; !version.done && version.value.key === object.key; version = await versions.next())
      if (version.value.size !== object.size) yield* lost.atMost(await wrongSize(checked, version.value));
  }
  for (; !version.done; version = await versions.next()) yield* lost.atMost(await missing(checked, version.value));
  yield* await unowned.end();
}

async function* versionsInOrder({ transaction, signal }: Checked): AsyncGenerator<StoredVersion, undefined> {
  for (let after = ''; ;) {
    signal.throwIfAborted();
    const page = await transaction((tx) => versionsAfter(tx, after, ROWS_AT_ONCE));
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < ROWS_AT_ONCE) return undefined;
    after = last.key;
  }
}

const isBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

/** Looks at the object first, because a purge deletes the row of a version first. */
async function missing({ storage, transaction }: Checked, version: StoredVersion): Promise<Finding | null> {
  if ((await storage.objects.head(version.key)) !== null) return wrongSize({ storage, transaction }, version);
  if (!(await transaction((tx) => isNamed(tx, version)))) return null;
  const { file, version: number, key } = version;
  return { fault: { kind: 'missing_object', file, version: number, key }, isRepaired: false };
}

async function wrongSize(
  { storage, transaction }: Pick<Checked, 'storage' | 'transaction'>,
  version: StoredVersion,
): Promise<Finding | null> {
  const object = await storage.objects.head(version.key);
  if (object === null || object.size === version.size || !(await transaction((tx) => isNamed(tx, version)))) return null;
  const { file, version: number, key, size: expected } = version;
  return { fault: { kind: 'wrong_size', file, version: number, key, expected, found: object.size }, isRepaired: false };
}

/** Findings up to the most of their kinds. */
class Bound {
  readonly #counts = new Map<string, number>();

  atMost(finding: Finding | null): Finding[] {
    if (!finding) return [];
    const count = (this.#counts.get(finding.fault.kind) ?? 0) + 1;
    this.#counts.set(finding.fault.kind, count);
    return count > FAULTS_MAX ? [] : [finding];
  }
}

/** Objects that no version has, looked up some at a time. */
class Unowned {
  readonly #checked: Checked;
  readonly #isRepaired: boolean;
  readonly #bound = new Bound();
  #batch: StoredObject[] = [];

  constructor(checked: Checked, isRepaired: boolean) {
    this.#checked = checked;
    this.#isRepaired = isRepaired;
  }

  async add(object: StoredObject): Promise<Finding[]> {
    const { key, lastModified } = object;
    if (!isContentKey(key)) return this.#foreign(object);
    const until = lastWriteOf(key.slice(0, 8));
    // Later an object was put there by hand, and before that an upload may be about to name it.
    if (this.#checked.now < until || lastModified >= until) return [];
    return this.#batch.push(object) === KEYS_AT_ONCE ? this.end() : [];
  }

  #foreign({ key, size }: StoredObject): Finding[] {
    const { slug, storage } = this.#checked;
    const isPlatforms = !storage.isNamed && storage.objects.bucket === bucketName(slug);
    if (!isPlatforms || key === MARKER_KEY) return [];
    return this.#bound.atMost({ fault: { kind: 'foreign_object', key, size }, isRepaired: false });
  }

  async end(): Promise<Finding[]> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return [];
    const named = await this.#checked.transaction((tx) =>
      namedAmong(
        tx,
        batch.map(({ key }) => key),
      ),
    );
    const found = batch.filter(({ key }) => !named.has(key));
    if (this.#isRepaired && found.length > 0) await this.#checked.storage.objects.delete(found.map(({ key }) => key));
    return found.flatMap(({ key, size }) =>
      this.#bound.atMost({ fault: { kind: 'unowned_object', key, size }, isRepaired: this.#isRepaired }),
    );
  }
}

async function* checkSample(
  checked: Checked,
  { versions, maxBytes }: CheckOptions['sample'],
  repair: boolean,
): AsyncGenerator<Finding> {
  if (versions === 0) return;
  const bound = new Bound();
  const sample =
    versions === 'all' ? versionsInOrder(checked) : await checked.transaction((tx) => someVersions(tx, versions, maxBytes));
  for await (const finding of checkBytes(checked, sample, repair))
    if (finding.fault.kind === 'wrong_checksum') yield* bound.atMost(finding);
}

/**
 * Reads each of these versions, of which those that share an object follow each other; with `repair` a CRC that is not known yet
 * is written.
 */
export async function* checkBytes(
  checked: Pick<Checked, 'transaction' | 'signal'> & { readonly storage: Pick<TenantStorage, 'objects'> },
  versions: Iterable<StoredVersion> | AsyncIterable<StoredVersion>,
  repair: boolean,
): AsyncGenerator<Finding> {
  const { transaction, storage, signal } = checked;
  let last: { readonly key: string; readonly read: Read | null } | undefined;
  for await (const version of versions) {
    signal.throwIfAborted();
    if (last?.key !== version.key) last = { key: version.key, read: await readWhole(storage.objects, version.key, signal) };
    const { read } = last;
    if (read?.size === version.size && read.checksum === version.checksum) {
      if (repair && !version.hasCrc) await transaction((tx) => writeCrc(tx, version.key, read));
      continue;
    }
    if (!(await transaction((tx) => isNamed(tx, version)))) continue;
    const { file, version: number, key } = version;
    const of = { file, version: number, key };
    if (read === null) yield { fault: { kind: 'missing_object', ...of }, isRepaired: false };
    else if (read.size !== version.size)
      yield { fault: { kind: 'wrong_size', ...of, expected: version.size, found: read.size }, isRepaired: false };
    else yield { fault: { kind: 'wrong_checksum', ...of }, isRepaired: false };
  }
}

async function* checkUsage(checked: Checked, repair: boolean): AsyncGenerator<Finding> {
  const bound = new Bound();
  for await (const finding of wrongUsage(checked, repair)) yield* bound.atMost(finding);
}

/** Yields users whose usage is counted wrong; with `repair` it is counted again. */
export async function* wrongUsage(
  { transaction, recounting, signal }: Pick<Checked, 'transaction' | 'recounting' | 'signal'>,
  repair: boolean,
): AsyncGenerator<Finding> {
  for (let after = 0, isMore = true; isMore;) {
    signal.throwIfAborted();
    const page = await transaction((tx) => usageAfter(tx, after, USERS_AT_ONCE));
    for (const { id, user, counted, found, areEntriesRight } of page) {
      after = id;
      if (counted === found && areEntriesRight) continue;
      if (repair) await recounting((tx) => recount(tx, id));
      yield { fault: { kind: 'wrong_usage', user, counted, found }, isRepaired: repair };
    }
    isMore = page.length === USERS_AT_ONCE;
  }
}
