import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Events } from '../../events/events.ts';
import { Batcher } from '../../runtime/batcher.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  ForeignKeyViolation,
  LimitReached,
  LockTimeout,
  SerializationFailure,
  StatementTimeout,
} from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { OwnRecord } from '../model/files/files.sql.ts';
import { type NewFile, storeFiles } from './uploads.sql.ts';

/** The statement changed nothing. Each upload is tried again alone, in a transaction that shows why it fails. */
const UNDONE = [ForeignKeyViolation, LimitReached, LockTimeout, SerializationFailure, StatementTimeout];

/**
 * Creates files from uploads whose bytes are stored. Uploads that end while one statement runs share the next one. Many uploads
 * therefore need few commits, and uploads of one person wait for the lock of their quota no longer than one statement.
 *
 * Invariants:
 * - A file, its version, its bytes in the quota and its event are committed together or not at all.
 * - An upload that the statement cannot store is left to a transaction of its own, which decides and reports why.
 */
export class NewFiles {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #batcher = new Batcher<NewFile, OwnRecord | null>((files) => this.#store(files));

  constructor(deps: { db: Database; cache: TaggedCache; events: Events; clock: Clock }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#clock = deps.clock;
  }

  /** Returns null if it was not stored. Throws StoreUnavailableError, and then it may have been stored. */
  store(file: NewFile): Promise<OwnRecord | null> {
    return this.#batcher.submit(file);
  }

  async #store(uploads: readonly NewFile[]): Promise<(OwnRecord | null)[]> {
    const stored = await this.#cache
      .statement([USERS_TAG], () => storeFiles(this.#db.tables, uploads, this.#clock.now()))
      .catch((error: unknown) => {
        if (!UNDONE.some((kind) => error instanceof kind)) throw error;
        return undefined;
      });
    if (stored && stored.deliveries > 0) this.#events.notify();
    return uploads.map(({ uuid }) => stored?.files.get(uuid) ?? null);
  }
}
