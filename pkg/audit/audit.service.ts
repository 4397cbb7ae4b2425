import type { Readable } from 'node:stream';
import { csv, ndjson } from '../api/exports.ts';
import { allOf, listPage, type List, type Page } from '../api/paging.ts';
import type { Database } from '../store/postgres/database.ts';
import type { AUDIT_SORT_FIELDS, AuditEntry, AuditQuery } from './audit.schema.ts';
import { AUDIT_COLUMNS, type AuditRow, ENTRIES, matching } from './audit.sql.ts';

type SortField = (typeof AUDIT_SORT_FIELDS)[number] | 'id';

/**
 * The audit log, which triggers write (pkg/store/postgres/functions).
 *
 * Invariants:
 * - An entry exists if, and only if, its change was committed. An entry for a line item, which the LMS owns, exists once the LMS
 *   has made the change.
 * - A tenant's server reads entries. It can neither write, change nor delete one.
 */
export class AuditLog {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /** Runs one statement. */
  list(query: AuditQuery): Promise<Page<AuditEntry>> {
    return listPage(this.#db, query, entriesOf(query));
  }

  /**
   * Streams all entries that match, each as one line of JSON. Runs one statement for each 1,000 entries, once the reader has
   * taken those before. Throws `validation_failed` for an unknown sort field.
   */
  export(query: AuditQuery, signal: AbortSignal): Readable {
    return ndjson(allOf(this.#db, query, entriesOf(query)), signal);
  }

  /** Streams the same entries as a table, for a spreadsheet. */
  table(query: AuditQuery, signal: AbortSignal): Readable {
    return csv(allOf(this.#db, query, entriesOf(query)), TABLE_FIELDS, signal);
  }
}

const TABLE_FIELDS: Readonly<Record<string, (entry: AuditEntry) => string | null>> = {
  at: ({ at }) => at,
  actor_id: ({ actor }) => (actor && 'id' in actor ? actor.id : null),
  actor: ({ actor }) => (actor && 'id' in actor ? actor.name : actor && 'system'),
  action: ({ action }) => action,
  target_type: ({ target }) => target.type,
  target_id: ({ target }) => target.id,
  target: ({ target }) => target.name,
  ip: ({ ip }) => ip,
  request_id: ({ request_id }) => request_id,
  changes: ({ changes }) => (Object.keys(changes).length === 0 ? null : JSON.stringify(changes)),
};

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
