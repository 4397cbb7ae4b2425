import type { Sql } from '../../store/postgres/pool.ts';
import { RESERVATION_MS } from './quota-reservation.service.ts';

/** Whose quota is reserved, under which id. */
export interface ReservationOf {
  readonly id: string;
  readonly ownerId: number;
  readonly now: Date;
}

const RESERVE = 'SELECT carrel.reserve_storage($1, $2, $3, $4, $5, $6) AS held';

/** Reserves the quota of those of these contents that fit beside everything else, one after the other, and gives them. One or two statements. */
export async function reserve<T extends { readonly size: number }>(tx: Sql, of: ReservationOf, contents: readonly T[]): Promise<T[]> {
  const hold = async (needed: number, wanted: number): Promise<number | null> => {
    const until = new Date(of.now.getTime() + RESERVATION_MS);
    const [row] = await tx.query<{ held: number | null }>(RESERVE, [of.id, of.ownerId, needed, wanted, of.now, until]);
    return row?.held ?? null;
  };
  if (contents.length === 0) return [];
  const held = await hold(
    0,
    contents.reduce((sum, { size }) => sum + size, 0),
  );
  if (held === null) return [];
  let used = 0;
  const fitting: T[] = [];
  for (const content of contents) {
    if (used + content.size > held) continue;
    used += content.size;
    fitting.push(content);
  }
  if (used < held) await hold(used, used);
  return fitting;
}

/** Counts bytes in place of what was reserved for them. False: the reservation had expired, and the quota cannot hold them. One statement. */
export async function countInPlaceOf(tx: Sql, of: ReservationOf, bytes: number): Promise<boolean> {
  const [row] = await tx.query<{ counted: boolean }>('SELECT carrel.count_storage($1, $2, $3, $4) AS counted', [
    of.id,
    of.ownerId,
    bytes,
    of.now,
  ]);
  return row?.counted ?? false;
}

export const releaseReservation = (tx: Sql, id: string): Promise<unknown> =>
  tx.query('DELETE FROM storage_reservations WHERE id = $1', [id]);
