import pg from 'pg';
import { isError, StoreUnavailableError } from '../unavailable.ts';

/** A constraint refused a row. `constraint` and `table` have the catalog's names. */
class ConstraintViolation extends Error {
  readonly constraint: string;
  readonly table: string;

  constructor(error: PgError) {
    super(error.message, { cause: error });
    this.constraint = error.constraint ?? '';
    this.table = error.table ?? '';
  }
}

export class UniqueViolation extends ConstraintViolation {
  override readonly name = 'UniqueViolation';
}
export class ForeignKeyViolation extends ConstraintViolation {
  override readonly name = 'ForeignKeyViolation';
}
export class CheckViolation extends ConstraintViolation {
  override readonly name = 'CheckViolation';
}

/** The statement ran longer than the role's statement_timeout and was cancelled: it had no effect. */
export class StatementTimeout extends Error {
  override readonly name = 'StatementTimeout';
}
/** A lock was not obtained within lock_timeout: nothing happened, and it may be tried again. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
}
/**
 * Postgres aborted this transaction in favour of another (serialization failure, deadlock); the whole of it may be tried again.
 */
export class SerializationFailure extends Error {
  override readonly name = 'SerializationFailure';
}

/**
 * A person or the tenant has reached a limit (SQLSTATE CL001, CL002; carrel.hold_limits): nothing happened. The message is for
 * people.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** The tenant has too many waiting jobs (SQLSTATE CL003; carrel.bound_work): nothing happened, and it may be tried again. */
export class TooManyJobs extends Error {
  override readonly name = 'TooManyJobs';
}

/** A value is invalid for its type (SQLSTATE class 22): not a number, not a time, out of range, a NUL. */
export class DataException extends Error {
  override readonly name = 'DataException';
}

/** The error that node-postgres throws when the server reports one. */
interface PgError extends Error {
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
}

/**
 * PostgreSQL, Appendix A: classes 08 connection, 28 authorization (a login that was disabled), 53 resources, 57P shutdown. 25006:
 * it accepts no writes at the moment, since the tenant is being moved, or the server has become a standby.
 */
const UNAVAILABLE_SQLSTATE = /^(08|28|53|57P0[1-5]|25P03|25006|3D000)/;
const UNAVAILABLE_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ECONNABORTED',
  'ENOENT',
]);
/** node-postgres and sequelize-pool report these without a code. */
const UNAVAILABLE_MESSAGE = new RegExp(
  [
    'Connection terminated',
    'not queryable',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'ConnectionManager.getConnection was called',
    'Client was closed',
    'pool is draining',
    'Cannot use a pool after calling end',
    'timeout expired',
  ].join('|'),
);
const UNAVAILABLE_SEQUELIZE = /^Sequelize(Connection|HostNot|AccessDenied|InvalidConnection)|^TimeoutError$/;

/** Converts an error of node-postgres or Sequelize to one of this file's errors; returns others unchanged. */
export function translateError(thrown: unknown): unknown {
  if (!isError(thrown)) return thrown;
  const parent = (thrown as { parent?: unknown }).parent;
  const error = (isError(parent) ? parent : thrown) as PgError;
  const code = error.code ?? '';
  if (code === '23505') return new UniqueViolation(error);
  if (code === '23503') return new ForeignKeyViolation(error);
  if (code === '23514') return new CheckViolation(error);
  if (code === '57014') return new StatementTimeout(error.message, { cause: error });
  if (code === '55P03') return new LockTimeout(error.message, { cause: error });
  if (code === '40001' || code === '40P01') return new SerializationFailure(error.message, { cause: error });
  if (code === 'CL001' || code === 'CL002') return new LimitReached(error.message, { cause: error });
  if (code === 'CL003') return new TooManyJobs(error.message, { cause: error });
  if (/^22...$/.test(code)) return new DataException(error.message, { cause: error });
  if (isUnavailable(error, code) || UNAVAILABLE_SEQUELIZE.test(thrown.name)) return new StoreUnavailableError('postgres', error);
  return error;
}

const isUnavailable = (error: Error, code: string): boolean =>
  UNAVAILABLE_SYSTEM.has(code) ||
  (code.length === 5 && UNAVAILABLE_SQLSTATE.test(code)) ||
  UNAVAILABLE_MESSAGE.test(error.message);

/** SQLSTATE of "cached plan must not change result type": a migration changed a table under a prepared statement. */
export const STALE_PLAN = '0A000';

/** Returns the SQLSTATE of an untranslated error, or of its cause. */
export function sqlState(error: unknown): string | undefined {
  if (!isError(error)) return undefined;
  const code = (error as PgError).code;
  return code ?? (error.cause === undefined ? undefined : sqlState(error.cause));
}

/** The outcome of the statement is unknown, although Postgres reported an error. */
const STATEMENT_COMPLETION_UNKNOWN = '40003';

/** Returns true if Postgres itself reported the error, so that nothing of the statement, or of its transaction, was committed. */
export function isNotCommitted(error: unknown): boolean {
  if (!isError(error) || error instanceof StoreUnavailableError) return false;
  if (error instanceof pg.DatabaseError) return error.code !== STATEMENT_COMPLETION_UNKNOWN;
  return isNotCommitted(error.cause);
}
