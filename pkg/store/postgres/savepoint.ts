import { UniqueViolation } from './errors.ts';
import type { Sql } from './pool.ts';

/** Undoes `work` if it throws, and the transaction continues. Two statements. */
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
 * Makes a write that Postgres may refuse without ending the transaction. Returns undefined, and undoes the write, if it was
 * refused in this way.
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

/** `unlessRefused` for a write that a unique key may refuse. */
export const unlessTaken = <T>(tx: Pick<Sql, 'query'>, write: () => Promise<T>): Promise<T | undefined> =>
  unlessRefused(tx, (error) => error instanceof UniqueViolation, write);
