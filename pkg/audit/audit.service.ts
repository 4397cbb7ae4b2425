import { Readable } from 'node:stream';
import { listPage, type List, type Page, pageRequest } from '../api/paging.ts';
import type { Database } from '../store/postgres/database.ts';
import { type KeysetRequest, selectPage } from '../store/postgres/keyset.ts';
import type { AUDIT_SORT_FIELDS, AuditEntry, AuditQuery } from './audit.schema.ts';
import { AUDIT_COLUMNS, type AuditRow, ENTRIES, matching } from './audit.sql.ts';

type SortField = (typeof AUDIT_SORT_FIELDS)[number] | 'id';

/** Of one statement of an export: about 300 KB. */
const ENTRIES_AT_ONCE = 1_000;

/**
 * The audit log, which triggers write (migration 0045).
 *
 * Invariants:
 * - An entry is there if, and only if, its change was committed.
 * - A tenant's server reads entries; it can neither write, change nor delete one.
 */
export class AuditLog {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /** One statement. */
  list(query: AuditQuery): Promise<Page<AuditEntry>> {
    return listPage(this.#db, query, entriesOf(query));
  }

  /**
   * All entries that match, each as one line of JSON: a statement for each 1,000, when the reader has taken those before. Throws
   * `validation_failed` for a sort that is not of this list.
   */
  export(query: AuditQuery, signal: AbortSignal): Readable {
    const { cursor: _, ...all } = query;
    const request = { ...pageRequest(all, ENTRIES.order), limit: ENTRIES_AT_ONCE };
    return Readable.from(this.#lines(query, request), { objectMode: false, signal });
  }

  async *#lines(query: AuditQuery, request: KeysetRequest<SortField>): AsyncGenerator<string> {
    for (let after: KeysetRequest<SortField>['after'], isMore = true; isMore;) {
      const { sql, params } = selectPage(ENTRIES, { ...request, after }, entriesOf(query));
      const rows = (await this.#db.query<AuditRow>(sql, params)).slice(0, request.limit);
      const last = rows.at(-1);
      isMore = rows.length === request.limit;
      if (!last) return;
      after = ENTRIES.valuesOf(request, last);
      yield rows.map((row) => `${JSON.stringify(present(row))}\n`).join('');
    }
  }
}

const entriesOf = (query: AuditQuery): List<AuditRow, SortField, AuditEntry> => ({
  keyset: ENTRIES,
  columns: AUDIT_COLUMNS,
  from: 'audit_entries a',
  where: matching(query),
  present,
});

const present = (row: AuditRow): AuditEntry => ({
  id: row.uuid,
  at: row.at.toISOString(),
  actor: actorOf(row),
  action: row.action,
  target: { type: row.targetType, id: row.targetId, name: row.targetName },
  ip: row.ip,
  request_id: row.requestId,
  changes: row.changes,
});

function actorOf({ isSystem, actorId, actorName }: AuditRow): AuditEntry['actor'] {
  if (isSystem) return { system: true };
  return actorId === null ? null : { id: actorId, name: actorName ?? '' };
}
