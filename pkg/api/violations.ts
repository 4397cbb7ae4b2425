import { UniqueViolation } from '../store/postgres/errors.ts';
import type { ProblemCode } from './error-catalogue.ts';
import { Problem } from './problem.ts';

/** The Problem of each unique constraint that a write may violate. */
type Problems = Readonly<Record<string, readonly [code: ProblemCode, message: string]>>;

/** Returns the Problem of a violated unique constraint, or the error itself if it is another one. */
export function problemOfViolation(error: unknown, problems: Problems): unknown {
  const problem = error instanceof UniqueViolation ? problems[error.constraint] : undefined;
  if (problem === undefined) return error;
  const [code, message] = problem;
  return new Problem(code, message, { cause: error });
}
