import type { Actor } from '../../api/actor.ts';
import { requireMatch } from '../../api/etag.ts';
import { page, type Page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { grantedAtLeast } from '../model/access/inherited-access.policy.ts';
import type { Files } from '../model/files/files.service.ts';
import type { NewTag, TagChanges, TagQuery, TagView } from './tags.schema.ts';
import { LINK, selectTags, type StoredTag, type TagOwner, TAGS, UNLINK, type WantedTags } from './tags.sql.ts';
import { presentTag, tagEtag } from './tags.view.ts';
import { problemOfViolation } from '../../api/violations.ts';

type IfMatch = readonly string[] | '*' | undefined;

/**
 * A person's tags, and the files that have them.
 *
 * Invariants:
 * - Tags belong to one person: nobody else sees or sets them, even on a file that several may read (404). Read access to a file
 *   is enough to tag it.
 * - Names are unique among the owner's tags, regardless of case, however many creations and changes race.
 * - `files_count` counts only files that the owner may still read.
 */
export class Tags {
  readonly #db: Database;
  readonly #files: Files;
  readonly #random: Random;

  constructor(deps: { db: Database; files: Files; random: Random }) {
    this.#db = deps.db;
    this.#files = deps.files;
    this.#random = deps.random;
  }

  /** Takes one statement. */
  list(actor: Actor, query: TagQuery): Promise<Page<TagView>> {
    return this.#page(actor, query);
  }

  /** Lists the actor's tags on a file. Takes one statement, and one more where the file is not cached. Throws `not_found`. */
  async listOfFile(actor: Actor, fileId: Uuid, query: TagQuery): Promise<Page<TagView>> {
    const { id } = await this.#files.read(actor, fileId);
    return this.#page(actor, query, id);
  }

  /** Takes one statement. Throws `not_found`. */
  async get(actor: Actor, id: Uuid): Promise<TagView> {
    return presentTag(await requireTag(this.#db, await ownerOf(actor), { uuid: id }), actor.userUuid);
  }

  /** Takes one statement. Throws `name_conflict`. */
  async create(actor: Actor, { name, color = null }: NewTag): Promise<TagView> {
    const row = { uuid: this.#random.uuid(), name, color, ownerId: actor.userId };
    const tag = await orNameConflict(() => this.#db.tables.tags.insert(row));
    return presentTag({ ...tag, files: 0 }, actor.userUuid);
  }

  /**
   * Changes a tag (PUT and PATCH): an undefined field keeps its value. Takes two statements. Throws `not_found`,
   * `precondition_failed`, `name_conflict`.
   */
  async change(actor: Actor, id: Uuid, changes: TagChanges, ifMatch: IfMatch): Promise<TagView> {
    const owner = await ownerOf(actor);
    return this.#db.transaction(async (tx) => {
      const tag = await requireTag(tx, owner, { uuid: id, lock: true });
      requireMatch(ifMatch, tagEtag(tag));
      const { name = tag.name, color = tag.color } = changes;
      if (name === tag.name && color === tag.color) return presentTag(tag, actor.userUuid);
      const [row] = await orNameConflict(() => tx.tags.update({ id: tag.id }, { name, color }));
      if (!row) throw new Problem('not_found');
      return presentTag({ ...row, files: tag.files }, actor.userUuid);
    });
  }

  /** Deletes a tag; its files stay as they are. Takes two statements. Throws `not_found`, `precondition_failed`. */
  async remove(actor: Actor, id: Uuid, ifMatch: IfMatch): Promise<void> {
    const owner = await ownerOf(actor);
    await this.#db.transaction(async (tx) => {
      const tag = await requireTag(tx, owner, { uuid: id, lock: true });
      requireMatch(ifMatch, tagEtag(tag));
      await tx.tags.delete({ id: tag.id });
    });
  }

  /**
   * Adds a tag to a file, or leaves it there. Takes one statement, and one more where the file is not cached. Throws
   * `not_found`.
   */
  async link(actor: Actor, fileId: Uuid, tagId: Uuid): Promise<void> {
    await this.#set(LINK, actor, fileId, tagId);
  }

  /**
   * Removes a tag from a file, or leaves the file without it. Takes one statement, and one more where the file is not cached.
   * Throws `not_found`.
   */
  async unlink(actor: Actor, fileId: Uuid, tagId: Uuid): Promise<void> {
    await this.#set(UNLINK, actor, fileId, tagId);
  }

  /**
   * Adds the tag to many files; returns why each refused file was refused, by its id. Takes two statements. Throws `not_found`
   * if there is no such tag.
   */
  linkAll(actor: Actor, fileIds: readonly Uuid[], tagId: Uuid): Promise<ReadonlyMap<string, Problem>> {
    return this.#setAll(LINK, actor, fileIds, tagId);
  }

  /** Removes the tag from each file; results and errors are those of `linkAll`. */
  unlinkAll(actor: Actor, fileIds: readonly Uuid[], tagId: Uuid): Promise<ReadonlyMap<string, Problem>> {
    return this.#setAll(UNLINK, actor, fileIds, tagId);
  }

  async #setAll(statement: string, actor: Actor, fileIds: readonly Uuid[], tagId: Uuid): Promise<ReadonlyMap<string, Problem>> {
    const { files, refused } = await this.#files.readAll(actor, fileIds);
    await this.#write(statement, actor, files, tagId);
    return refused;
  }

  async #set(statement: string, actor: Actor, fileId: Uuid, tagId: Uuid): Promise<void> {
    await this.#write(statement, actor, [await this.#files.read(actor, fileId)], tagId);
  }

  async #write(statement: string, actor: Actor, files: readonly { readonly id: number }[], tagId: Uuid): Promise<void> {
    try {
      const [tag] = await this.#db.query(statement, [tagId, actor.userId, files.map(({ id }) => id)]);
      if (!tag) throw new Problem('not_found', 'There is no such tag.');
    } catch (error) {
      throw error instanceof ForeignKeyViolation ? new Problem('not_found', undefined, { cause: error }) : error;
    }
  }

  async #page(actor: Actor, query: TagQuery, file?: number): Promise<Page<TagView>> {
    const request = pageRequest(query, TAGS.order);
    const rows = await select(this.#db, await ownerOf(actor), { page: request, ...(file === undefined ? {} : { file }) });
    return page(
      request,
      rows,
      (row) => presentTag(row, actor.userUuid),
      (row) => TAGS.valuesOf(request, row),
    );
  }
}

/**
 * Call it before a transaction opens: one that waited for a second connection would hold up all others when the pool is used
 * up.
 */
async function ownerOf(actor: Actor): Promise<TagOwner> {
  return { userId: actor.userId, ...grantedAtLeast(await actor.permissionSet(), 'read') };
}

async function select(sql: Sql, owner: TagOwner, wanted: WantedTags): Promise<StoredTag[]> {
  const statement = selectTags(owner, wanted);
  return sql.query<StoredTag>(statement.sql, statement.params);
}

/** Throws `not_found`. */
async function requireTag(sql: Sql, owner: TagOwner, wanted: WantedTags): Promise<StoredTag> {
  const [tag] = await select(sql, owner, wanted);
  if (!tag) throw new Problem('not_found');
  return tag;
}

async function orNameConflict<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof ForeignKeyViolation) throw new Problem('unauthenticated', undefined, { cause: error });
    throw problemOfViolation(error, { tags_owner_id_name_key: ['name_conflict', 'You have a tag of this name.'] });
  }
}
