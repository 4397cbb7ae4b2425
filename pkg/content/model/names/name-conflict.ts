import { Problem } from '../../../api/problem.ts';
import { UniqueViolation } from '../../../store/postgres/errors.ts';

export const nameConflict = (): Problem => new Problem('name_conflict', 'The name is taken in this folder; choose another name.');

/** Awaits a write that the unique names of live siblings may refuse; the refusal becomes `name_conflict`. */
export async function orNameConflict<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof UniqueViolation && /_live(_root)?_name_key$/.test(error.constraint)) throw nameConflict();
    throw error;
  }
}
