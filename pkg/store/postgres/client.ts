import type { Socket } from 'node:net';
import pg from 'pg';
import { StoreUnavailableError } from '../unavailable.ts';
import { endSpan, isTracing } from '../../runtime/traces.ts';
import { translateError } from './errors.ts';
import { startStatement } from './statement-span.ts';

/**
 * A statement that was sent to Postgres; BEGIN, COMMIT, SET and the like are round trips, not statements (docs/design/testing.md,
 * Speed and size).
 */
interface ObservedStatement {
  readonly sql: string;
  readonly ms: number;
  readonly failed: boolean;
}
export type ObserveStatement = (statement: ObservedStatement) => void;

const NOT_A_STATEMENT = /^\s*(BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SET|SAVEPOINT|RELEASE|DISCARD)\b/i;

const INT8 = 20;
const NUMERIC = 1700;
const INT8_ARRAY = 1016;
const TIMESTAMPTZ = 1184;

/** Reads a bigint as a number. Ids, sizes and counts stay below 2^53; a larger one must not be rounded silently. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`a bigint is above 2^53-1: ${text}`);
  return value;
}

/** A time as written by a server whose time zone is UTC. */
const UTC_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;

/**
 * Parses the usual form by JavaScript's own parser, in a quarter of the time of node-postgres' parser, which handles all others.
 */
export const parseTime = (text: string): unknown =>
  UTC_TIME.test(text)
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : (pg.types.getTypeParser(TIMESTAMPTZ) as typeof parseTime)(text);

/** Converts a server's time (`timestamptz::text`) to ISO 8601; the usual form without a Date, in a sixth of the time. */
export function isoTime(text: string): string {
  if (!UTC_TIME.test(text)) return (parseTime(text) as Date).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, parseInt8],
  [TIMESTAMPTZ, parseTime],
  [NUMERIC, Number],
  [INT8_ARRAY, (text) => (pg.types.getTypeParser(INT8_ARRAY as never) as (text: string) => string[])(text).map(parseInt8)],
]);

/** Parsers of result columns by type id, for node-postgres. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    const own = format === 'binary' ? undefined : parsers.get(oid);
    return own ?? pg.types.getTypeParser(oid, format as 'text');
  }) as typeof pg.types.getTypeParser,
};

/**
 * A node-postgres client that reports each statement. It abandons its connection at once if that failed or an answer was late
 * (`query_timeout`): the late answer would otherwise reach the next user of the connection.
 */
export function observedClient(observe: ObserveStatement | undefined): typeof pg.Client {
  return class ObservedClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      // Sequelize listens a moment after the login, and node-postgres' pool only while a connection is idle: an error at another
      // time would end the program. The running statement, or the next one, fails.
      this.on('error', () => abandon(this));
      const send = this.query.bind(this) as (...args: unknown[]) => unknown;
      const watched = (...args: unknown[]): unknown => {
        const sql = textOf(args[0]);
        const started = performance.now();
        const span = isTracing() && !NOT_A_STATEMENT.test(sql) ? startStatement(sql, nameOf(args[0])) : undefined;
        const done = (error: unknown): void => {
          if (span) endSpan(span, error);
          if (translateError(error) instanceof StoreUnavailableError) abandon(this);
          if (observe && !NOT_A_STATEMENT.test(sql)) observe({ sql, ms: performance.now() - started, failed: Boolean(error) });
        };
        const callback = args.at(-1);
        if (typeof callback === 'function') {
          const answer = callback as (...result: unknown[]) => void;
          return send(...args.slice(0, -1), (...result: unknown[]) => {
            done(result[0]);
            answer(...result);
          });
        }
        const result = send(...args);
        if (result instanceof Promise) void result.then(() => done(null), done);
        return result;
      };
      this.query = watched as typeof this.query;
    }
  };
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string } | null)?.text ?? '');

/** Returns the statement's name without the suffix that database.ts adds when it prepares a statement again. */
const nameOf = (query: unknown): string | undefined => (query as { name?: string } | null)?.name?.replace(/\.\d+$/, '');

/** Sequelize's pool returns no connection marked in this way; node-postgres' own pool discards one that failed. */
interface Abandonable {
  _invalid?: boolean;
  readonly connection: { readonly stream: Socket };
}

/** Closes the client's connection at once: statements that wait for an answer fail, and the server rolls back. */
export const abandon = (client: pg.Client): void => {
  const connection = client as unknown as Abandonable;
  connection._invalid = true;
  connection.connection.stream.destroy();
};

export const isAbandoned = (client: pg.Client): boolean => (client as unknown as Abandonable)._invalid === true;
