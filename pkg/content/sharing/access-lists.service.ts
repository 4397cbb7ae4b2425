import type { Actor } from '../../api/actor.ts';
import { page, type Page, pageRequest } from '../../api/paging.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Caller } from '../model/access/caller.ts';
import { hiddenAncestors } from '../model/access/inherited-access.policy.ts';
import { filesById } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { foldersById } from '../model/folders/folders.sql.ts';
import type { Child } from '../model/folders/folders.schema.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import { ACCESS, accessList, type AccessRow, type ReasonRow, SHARED, sharedList, type SharedRow } from './access-lists.sql.ts';
import type { AccessQuery, AccessView, SharedItem, SharedQuery } from './access-lists.schema.ts';
import type { Resource } from '../model/access/grants.sql.ts';
import { requireShared } from './grants.service.ts';

/**
 * Lists the people who have access to a file or folder, with the reasons, and the files and folders that others granted to the
 * caller.
 *
 * Invariants:
 * - Only an admin of a file or folder sees who has access to it.
 * - A reason never discloses a folder that the caller may not see.
 */
export class AccessLists {
  readonly #db: Database;
  readonly #clock: Clock;

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db;
    this.#clock = deps.clock;
  }

  /** Runs two statements. Throws `not_found`, `forbidden`. */
  async accessTo(actor: Actor, resource: Resource, query: AccessQuery): Promise<Page<AccessView>> {
    const request = pageRequest(query, ACCESS.order);
    const caller = { actor, granted: await actor.permissionSet() };
    const target = await requireShared(this.#db.tables, caller, resource);
    const { sql, params } = accessList(target, this.#clock.now(), request);
    const rows = await this.#db.query<AccessRow>(sql, params);
    const seen = new Set(target.ancestors.slice(hiddenAncestors(caller, target.ancestors)).map(({ uuid }) => uuid));
    return page(
      request,
      rows,
      (row): AccessView => ({
        user: { id: row.uuid, name: row.name },
        level: row.level,
        because: row.reasons.map((reason) => presentReason(reason, seen)),
      }),
      (row) => ACCESS.valuesOf(request, row),
    );
  }

  /** Runs at most three statements: the page, its files and its folders. */
  async sharedWith(actor: Actor, query: SharedQuery): Promise<Page<SharedItem>> {
    const request = pageRequest(query, SHARED.order);
    const caller = { actor, granted: await actor.permissionSet() };
    const { sql, params } = sharedList(actor.userId, this.#clock.now(), request);
    const rows = await this.#db.query<SharedRow>(sql, params);
    const items = await this.#items(caller, rows);
    const { data, pagination } = page(
      request,
      rows,
      (row) => sharedBy(row, items.get(`${row.type} ${row.itemId}`)),
      (row) => SHARED.valuesOf(request, row),
    );
    return { data: data.filter((item) => item !== undefined), pagination };
  }

  async #items(caller: Caller, rows: readonly SharedRow[]): Promise<ReadonlyMap<string, Child>> {
    const ids = (type: SharedRow['type']): number[] => rows.flatMap((row) => (row.type === type ? [row.itemId] : []));
    const [files, folders] = [await filesById(this.#db.tables, ids('file')), await foldersById(this.#db.tables, ids('folder'))];
    return new Map<string, Child>([
      ...files.map((file) => [`file ${file.id}`, { type: 'file', ...presentFile(fileSeenBy(caller, file)) }] as const),
      ...folders.map(
        (folder) => [`folder ${folder.id}`, { type: 'folder', ...presentFolder(folderSeenBy(caller, folder)) }] as const,
      ),
    ]);
  }
}

/** Returns undefined if the item was permanently deleted after the page was read. */
const sharedBy = (row: SharedRow, item: Child | undefined): SharedItem | undefined =>
  item && {
    ...item,
    level: row.level,
    granted_by: row.grantedBy,
    granted_at: row.grantedAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
  };

function presentReason(
  { via, permission, group, folder, expiresAt }: ReasonRow,
  seen: ReadonlySet<string>,
): AccessView['because'][number] {
  const isHidden = folder !== null && !seen.has(folder.id);
  return {
    via,
    ...(permission === null || isHidden ? {} : { permission_id: permission }),
    ...(group === null ? {} : { group }),
    ...(folder === null || isHidden ? {} : { folder }),
    ...(expiresAt === null ? {} : { expires_at: new Date(expiresAt).toISOString() }),
  };
}
