import { Problem } from '../../api/problem.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';

/**
 * A reservation expires this long after it was last renewed. A running upload renews it in time, since it is never silent for
 * longer than 120 s.
 */
export const RESERVATION_MS = 10 * 60 * 1000;

/** The owner of the quota that is reserved, and the id of the reservation. */
export interface ReservationOf {
  readonly id: string;
  readonly ownerId: number;
  readonly now: Date;
  /** When it expires; default: in RESERVATION_MS. */
  readonly until?: Date;
}

export interface WantedBytes {
  readonly needed: number;
  readonly wanted: number;
}

/**
 * Reserves `wanted` bytes in place of what the reservation had, or as many as are free, and locks the owner's row. Returns how
 * many. Throws `quota_exceeded` if fewer than `needed` are free. Takes one statement.
 */
export async function reserve(sql: Executor, of: ReservationOf, bytes: WantedBytes): Promise<number> {
  const held = await reserveIfFree(sql, of, bytes);
  if (held === null) throw new Problem('quota_exceeded');
  return held;
}

/** Does the same; returns null if fewer are free. */
async function reserveIfFree(
  sql: Executor,
  { id, ownerId, now, until = new Date(now.getTime() + RESERVATION_MS) }: ReservationOf,
  { needed, wanted }: WantedBytes,
): Promise<number | null> {
  const [row] = await sql.prepared<{ held: number | null }>(
    'content-reserve-step',
    'SELECT carrel.reserve_storage($1, $2, $3, $4, $5, $6) AS held',
    [id, ownerId, needed, wanted, now, until],
  );
  return row?.held ?? null;
}

/**
 * Reserves the quota of the contents that fit beside everything else, one after the other, and returns them. Takes one or two
 * statements.
 */
export async function reserveFitting<T extends { readonly size: number }>(
  sql: Executor,
  of: ReservationOf,
  contents: readonly T[],
): Promise<T[]> {
  if (contents.length === 0) return [];
  const held = await reserveIfFree(sql, of, { needed: 0, wanted: contents.reduce((sum, { size }) => sum + size, 0) });
  if (held === null) return [];
  let used = 0;
  const fitting: T[] = [];
  for (const content of contents) {
    if (used + content.size > held) continue;
    used += content.size;
    fitting.push(content);
  }
  // Nothing will be stored, so no commit would release it.
  if (fitting.length === 0) await releaseReservation(sql, of.id);
  else if (used < held) await reserveIfFree(sql, of, { needed: used, wanted: used });
  return fitting;
}

export const releaseReservation = (sql: Executor, id: string): Promise<unknown> =>
  sql.prepared('content-release', 'DELETE FROM storage_reservations WHERE id = $1', [id]);

/**
 * Counts bytes to their owner, instead of what was reserved for them, under the lock of the owner's row, however many uploads
 * race. Reservations of other uploads stay theirs. Throws `quota_exceeded`.
 */
export async function countBytes(
  tx: Tx,
  ownerId: number,
  bytes: number,
  { now, reservation }: { now: Date; reservation?: string | undefined },
): Promise<void> {
  const values = [reservation ?? null, ownerId, bytes, now];
  const [row] = await tx.prepared<{ counted: boolean }>(
    'content-count',
    'SELECT carrel.count_storage($1, $2, $3, $4) AS counted',
    values,
  );
  if (!row?.counted) throw new Problem('quota_exceeded');
}
