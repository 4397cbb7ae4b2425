import { Problem } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { RemovedUser, UserRef } from '../../feature/offboarding.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { grantsTag } from '../../access/tags.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { FOLDERS_TAG } from '../model/content.tags.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { endGivenBy } from '../model/access/delegated-grants.sql.ts';
import { fileCreated } from '../model/files/files.events.ts';
import { renameFolder } from '../folders/rename-folder.ts';
import { orNameConflict } from '../model/names/name-conflict.ts';
import { characters } from '../model/names/names.policy.ts';
import { countBytes } from '../blobs/quota-reservation.sql.ts';
import { BYTES_OF, ENTRIES_OF_FILES } from './counted.sql.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';

/**
 * Transfers or deletes a user's files and folders when the user is deleted (docs/design/records.md, User, File).
 *
 * - With a new owner: files, folders and used bytes are transferred, all or nothing (`quota_exceeded`, `name_conflict`).
 * - Else: files are deleted, each live one with the event `file.deleted`, and a job of the same transaction purges their objects.
 *   Folders are deleted, but a folder with others' content passes to the system user, together with its ancestors that are the
 *   user's.
 * - Share links that the user made pass on with the user's files, and are deleted otherwise.
 * - Grants that the user gave through a grant end with it. Everything that the user created or granted elsewhere as an owner
 *   names the system user afterwards.
 */
export class UserContent {
  readonly #cache: TaggedCache;
  readonly #jobs: JobRequests;
  readonly #events: Events;
  readonly #clock: Clock;

  constructor(deps: { cache: TaggedCache; jobs: JobRequests; events: Events; clock: Clock }) {
    this.#cache = deps.cache;
    this.#jobs = deps.jobs;
    this.#events = deps.events;
    this.#clock = deps.clock;
  }

  async onUserRemoved(tx: Tx, user: RemovedUser): Promise<void> {
    if (user.newOwner) await this.#transfer(tx, user, user.newOwner);
    await this.#remove(tx, user, user.systemUser.id);
  }

  async #transfer(tx: Tx, from: UserRef, to: UserRef): Promise<void> {
    await lockFolders(tx, from);
    const { bytes, entries } = await usageOf(tx, from.id);
    await orNameConflict(tx.query('UPDATE folders SET owner_id = $2 WHERE owner_id = $1', [from.id, to.id]));
    await orNameConflict(tx.query('UPDATE files SET owner_id = $2 WHERE owner_id = $1', [from.id, to.id]));
    await tx.query(PASS_SHARES, [from.id, to.id]);
    await tx.query(
      `UPDATE users SET storage_used = greatest(0, storage_used - $2::bigint), entries = greatest(0, entries - $3::bigint)
       WHERE id = $1`,
      [from.id, bytes, entries],
    );
    await tx.query('UPDATE users SET entries = entries + $2 WHERE id = $1', [to.id, entries]);
    await countBytes(tx, to.id, bytes, { now: this.#clock.now() });
    this.#cache.invalidate(tx, FOLDERS_TAG, USERS_TAG);
  }

  async #remove(tx: Tx, user: UserRef, systemUserId: number): Promise<void> {
    await lockFolders(tx, user);
    const blobs = await tx.query<{ key: string }>(
      'SELECT v.blob_name AS key FROM file_versions v JOIN files f ON f.id = v.file_id WHERE f.owner_id = $1',
      [user.id],
    );
    await tx.query(
      `DELETE FROM permissions WHERE resource_type = 'file' AND resource_id IN (SELECT id FROM files WHERE owner_id = $1)`,
      [user.id],
    );
    await this.#removeFiles(tx, user);
    await this.#removeFolders(tx, user, systemUserId);
    this.#cache.invalidate(tx, ...(await endGivenBy(tx, user.id)).map(grantsTag));
    await tx.query('DELETE FROM shares WHERE created_by = $1', [user.id]);
    for (const [table, column] of CREATED_BY) {
      await tx.query(`UPDATE ${table} SET ${column} = $2 WHERE ${column} = $1`, [user.id, systemUserId]);
    }
    await requestPurge(
      this.#jobs,
      tx,
      blobs.map(({ key }) => key),
    );
    // Cached metadata of every file has the tag `folders`, so this invalidates those of the user's files too.
    this.#cache.invalidate(tx, FOLDERS_TAG, USERS_TAG);
  }

  async #removeFiles(tx: Tx, user: UserRef): Promise<void> {
    const deleted = await tx.query<{ uuid: string; name: string; size: number; createdAt: Date; deletedAt: Date | null }>(
      'DELETE FROM files WHERE owner_id = $1 RETURNING uuid, name, size, created_at AS "createdAt", deleted_at AS "deletedAt"',
      [user.id],
    );
    const deletedAt = this.#clock.now().toISOString();
    const events = deleted
      .filter((file) => file.deletedAt === null)
      .map((file) => fileCreated({ ...file, ownerUuid: user.uuid, createdAt: file.createdAt.toISOString() }));
    await this.#events.emitAll(
      tx,
      'file.deleted',
      events.map((file) => ({ ...file, deleted_at: deletedAt, permanent: true })),
    );
  }

  async #removeFolders(tx: Tx, user: UserRef, systemUserId: number): Promise<void> {
    await this.#renameClashingRoots(tx, user, systemUserId);
    await tx.query(
      `WITH given AS (UPDATE folders d SET owner_id = $2 WHERE d.owner_id = $1 AND (
         EXISTS (SELECT FROM folders b WHERE b.ancestry <@ d.ancestry AND b.owner_id <> $1)
         OR EXISTS (SELECT FROM folders b JOIN files f ON f.folder_id = b.id WHERE b.ancestry <@ d.ancestry)) RETURNING d.id)
       UPDATE users SET entries = entries + (SELECT count(*) FROM given) WHERE id = $2`,
      [user.id, systemUserId],
    );
    await tx.query(
      `DELETE FROM permissions WHERE resource_type = 'folder' AND resource_id IN (SELECT id FROM folders WHERE owner_id = $1)`,
      [user.id],
    );
    await tx.query('DELETE FROM folders WHERE owner_id = $1', [user.id]);
  }

  /** Renames root folders whose name the system user has already. Paths follow. Throws `name_conflict`. */
  async #renameClashingRoots(tx: Tx, user: UserRef, systemUserId: number): Promise<void> {
    const clashing = await tx.query<{ uuid: string; name: string }>(
      `SELECT d.uuid, d.name FROM folders d
       WHERE d.owner_id = $1 AND d.parent_id IS NULL AND d.deleted_at IS NULL AND EXISTS (
         SELECT FROM folders s WHERE s.owner_id = $2 AND s.parent_id IS NULL AND s.deleted_at IS NULL AND s.name = d.name)
       ORDER BY d.id`,
      [user.id, systemUserId],
    );
    for (const { uuid, name } of clashing) {
      const names = await freeOf(tx, [user.id, systemUserId], namesBeside(name, user.uuid));
      const moved = await renameFolder(tx, uuid, { names, now: this.#clock.now() });
      if (!moved) throw new Problem('name_conflict', `No other name for the folder ${name} is free.`);
      if (moved.deliveries > 0) this.#events.notifyAfterCommit(tx);
    }
  }
}

/** Returns the names that no root folder of these users has. */
async function freeOf(tx: Tx, ownerIds: readonly number[], names: readonly string[]): Promise<string[]> {
  const taken = await tx.query<{ name: string }>(
    'SELECT name FROM folders WHERE owner_id = ANY ($1) AND parent_id IS NULL AND deleted_at IS NULL AND name = ANY ($2)',
    [ownerIds, names],
  );
  return names.filter((name) => !taken.some((other) => other.name === name));
}

/** Returns the name with the user's uuid; and names as long as it, where a path below has no space for more. */
function namesBeside(name: string, uuid: string): string[] {
  const [digits, length] = [uuid.replaceAll('-', ''), Math.min(characters(name), 12)];
  const short = Array.from({ length: digits.length - length + 1 }, (_, at) => digits.slice(at, at + length));
  return [`${Array.from(name).slice(0, 200).join('')} (${uuid})`, ...new Set(short)];
}

/** Locks the user's folders against writes, so that decisions by their contents hold until the commit. */
const lockFolders = (tx: Tx, user: UserRef): Promise<unknown> =>
  tx.query('SELECT FROM folders WHERE owner_id = $1 ORDER BY id FOR UPDATE', [user.id]);

/** Links on files and folders that have been handed over. */
const PASS_SHARES = `
  WITH passed AS (
    UPDATE shares s SET created_by = $2 WHERE s.created_by = $1 AND (
      EXISTS (SELECT FROM files f WHERE f.id = s.file_id AND f.owner_id = $2)
      OR EXISTS (SELECT FROM folders d WHERE d.id = s.folder_id AND d.owner_id = $2))
    RETURNING s.id
  )
  UPDATE users SET entries = greatest(0, entries + (SELECT count(*) FROM passed) * CASE id WHEN $2 THEN 1 ELSE -1 END)
  WHERE id IN ($1, $2)`;

/** Columns that name the user as creator or giver in others' content: they name the system user afterwards. */
const CREATED_BY = [
  ['file_versions', 'created_by'],
  ['permissions', 'granted_by'],
] as const;

/**
 * Returns the usage of a user: the bytes of all versions and metadata, and the number of files, folders and versions after the
 * first, the trash included.
 */
async function usageOf(tx: Tx, userId: number): Promise<{ bytes: number; entries: number }> {
  const [row] = await tx.query<{ bytes: number; entries: number }>(
    `SELECT ${BYTES_OF('$1')} AS bytes, ${ENTRIES_OF_FILES('$1')} AS entries`,
    [userId],
  );
  if (!row) throw new Problem('internal');
  return row;
}
