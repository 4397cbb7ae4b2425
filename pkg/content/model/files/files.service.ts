import type { Actor, Level } from '../../../api/actor.ts';
import type { RequestInfo } from '../../../api/endpoint.ts';
import { requireMatch } from '../../../api/etag.ts';
import { FILE_METADATA_TTL_SECONDS } from '../../../api/lifetimes.ts';
import { Problem } from '../../../api/problem.ts';
import { PROFILES_TAG } from '../../../accounts/users/users.tags.ts';
import { Batcher } from '../../../runtime/batcher.ts';
import type { Database, Tx } from '../../../store/postgres/database.ts';
import { DecodedValues } from '../../../store/redis/decoded-values.ts';
import type { CacheEntry, CacheLookup, TaggedCache } from '../../../store/redis/tagged-cache.ts';
import type { Caller } from '../access/caller.ts';
import { allows, levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { fileTag, FOLDERS_TAG } from '../content.tags.ts';
import { cachedRecord, type FileRecord, findFile, findFiles } from './files.sql.ts';
import { fileEtag, fileSeenBy, type SeenFile } from './files.view.ts';

/**
 * Reads files through the cache. The content feature has one instance, so that it batches the look-ups of all its requests.
 *
 * Invariants:
 * - To a caller who may not read it, a file looks like one that does not exist (404), at every endpoint. Nor does a file disclose
 *   ancestors that the caller may not see: the cached record is the same for all, and each caller's view of it is computed
 *   (`fileSeenBy`).
 * - A soft-deleted file is 404 everywhere but in the trash list, restore and permanent deletion.
 */
export class Files {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #records = new DecodedValues(cachedRecord);
  /**
   * Files that several requests read together, none of them cached, cost one statement. It begins after each of their look-ups.
   */
  readonly #loads = new Batcher<string, FileRecord | null>((ids) => findFiles(this.#db.tables, ids), { atOnce: 3 });

  constructor(deps: { db: Database; cache: TaggedCache }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
  }

  /**
   * Returns a live file that the actor may read, as they see it. `found`: the look-up of `fileEntry`; without it this makes
   * one, a round trip to Redis. Takes no SQL if it is cached, else one statement. Throws `not_found`.
   */
  async read(actor: Actor, id: string, found?: CacheLookup): Promise<SeenFile> {
    const [file, granted] = await Promise.all([this.#find(id, found), actor.permissionSet()]);
    const caller = { actor, granted };
    if (!file || file.deletedAt !== null) throw new Problem('not_found');
    requireLevel(levelOn('file', caller, file), 'read');
    return fileSeenBy(caller, file);
  }

  /** Returns live files that the actor may read, and why the others are refused, by their ids. One statement. */
  async readAll(actor: Actor, ids: readonly string[]): Promise<Decided> {
    return decided({ actor, granted: await actor.permissionSet() }, ids, await findFiles(this.#db.tables, ids), 'read');
  }

  async #find(id: string, found?: CacheLookup): Promise<FileRecord | null> {
    const lookup = found ?? (await this.#cache.lookup(fileEntry(id)));
    const cached = lookup.value === undefined ? undefined : this.#records.of(id, lookup.value);
    if (cached) return cached;
    const file = await this.#loads.submit(id);
    if (file) await lookup.put(JSON.stringify(file), FILE_METADATA_TTL_SECONDS);
    return file;
  }
}

/**
 * Returns a file that the actor has this level on, locked until the end of the transaction. `any`: also in the trash, where those
 * with write access see it. Compares `ifMatch` with the tag of what they see. One statement.
 */
export const lockFile = async (tx: Tx, caller: Caller, id: string, wanted: Level, expected: Expected): Promise<FileRecord> =>
  requireFile(caller, await findFile(tx, id, true), wanted, expected);

/** Requirements on a file: it is live unless `state` is `any`, and its entity tag matches `ifMatch`. */
interface Expected {
  readonly ifMatch?: RequestInfo['ifMatch'];
  readonly state?: 'live' | 'any';
}

function requireFile(caller: Caller, file: FileRecord | null, wanted: Level, { ifMatch, state = 'live' }: Expected): FileRecord {
  if (!file) throw new Problem('not_found');
  const level = levelOn('file', caller, file);
  if (file.deletedAt !== null && (state === 'live' || !allows(level, 'write'))) throw new Problem('not_found');
  requireLevel(level, wanted);
  requireMatch(ifMatch, fileEtag(fileSeenBy(caller, file)));
  return file;
}

interface Decided {
  readonly files: readonly FileRecord[];
  readonly refused: ReadonlyMap<string, Problem>;
}

/** Returns the files of `found`, in the order of `ids`, on which the actor has this level: live ones, or `any`. */
export function decided(
  caller: Caller,
  ids: readonly string[],
  found: readonly (FileRecord | null)[],
  wanted: Level,
  state: Expected['state'] = 'live',
): Decided {
  const refused = new Map<string, Problem>();
  const files = found.filter((file, at): file is FileRecord => {
    const problem = refusalOf(() => requireFile(caller, file, wanted, { state }));
    if (problem) refused.set(ids[at] as string, problem);
    return problem === null;
  });
  return { files, refused };
}

/** Returns the Problem that `check` throws; null: none. */
export function refusalOf(check: () => unknown): Problem | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Returns the cache entry of a file's metadata. All callers share it; each caller's view is computed from it. */
export const fileEntry = (id: string): CacheEntry => ({ key: `file:${id}`, tags: [fileTag(id), FOLDERS_TAG, PROFILES_TAG] });

/** The result of one change of many files. */
export interface SetResult {
  /** The problem that refused a file, by its id. */
  readonly refused: ReadonlyMap<string, Problem>;
  /** Ids of files that were left alone because each needs a decision of its own. */
  readonly left?: ReadonlySet<string>;
}
