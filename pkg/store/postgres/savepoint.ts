import type { Tx } from './database.ts';
import { UniqueViolation } from './errors.ts';

/** A write that a unique key may refuse, without giving up the transaction: undefined when it was refused, and nothing of it is left. */
export async function unlessTaken<T>(tx: Tx, write: () => Promise<T>): Promise<T | undefined> {
  await tx.query('SAVEPOINT unless_taken');
  try {
    const result = await write();
    await tx.query('RELEASE SAVEPOINT unless_taken');
    return result;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT unless_taken; RELEASE SAVEPOINT unless_taken');
    return undefined;
  }
}
