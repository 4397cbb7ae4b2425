import { UniqueViolation } from './errors.ts';
import type { Sql } from './pool.ts';

/** A write that Postgres may refuse, without giving up the transaction: undefined when it was refused so, and nothing of it is left. */
export async function unlessRefused<T>(
  tx: Pick<Sql, 'query'>,
  isRefusal: (error: unknown) => boolean,
  write: () => Promise<T>,
): Promise<T | undefined> {
  await tx.query('SAVEPOINT unless_refused');
  try {
    const result = await write();
    await tx.query('RELEASE SAVEPOINT unless_refused');
    return result;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT unless_refused; RELEASE SAVEPOINT unless_refused');
    return undefined;
  }
}

/** The same for a unique key that may refuse it. */
export const unlessTaken = <T>(tx: Pick<Sql, 'query'>, write: () => Promise<T>): Promise<T | undefined> =>
  unlessRefused(tx, (error) => error instanceof UniqueViolation, write);
