import { UniqueViolation } from './errors.ts';
import type { Sql } from './pool.ts';

/** Of `work` nothing is left where it throws, and the transaction goes on. Two statements. */
export async function inSavepoint<T>(tx: Pick<Sql, 'query'>, work: () => Promise<T>): Promise<T> {
  await tx.query('SAVEPOINT inner_work');
  try {
    const result = await work();
    await tx.query('RELEASE SAVEPOINT inner_work');
    return result;
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT inner_work; RELEASE SAVEPOINT inner_work');
    throw error;
  }
}

/**
 * A write that Postgres may refuse, without giving up the transaction: undefined when it was refused so, and nothing of it is
 * left.
 */
export async function unlessRefused<T>(
  tx: Pick<Sql, 'query'>,
  isRefusal: (error: unknown) => boolean,
  write: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await inSavepoint(tx, write);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}

/** The same for a unique key that may refuse it. */
export const unlessTaken = <T>(tx: Pick<Sql, 'query'>, write: () => Promise<T>): Promise<T | undefined> =>
  unlessRefused(tx, (error) => error instanceof UniqueViolation, write);
