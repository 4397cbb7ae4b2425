import { type Span, startSpan } from '../../runtime/traces.ts';

/** Finds a statement's operation and table by its first words; its values are never read. */
const VERB = /^\s*([a-z]+)\b/i;
const TABLE = /\b(?:from|into|update|join)\s+(?:only\s+)?"?([a-z_]{1,63}(?:\.[a-z_]{1,63})?)\b/i;
/** The length of the text in which a table is searched. */
const HEAD = 1_000;
/** The most statements whose summary is cached: the code has fewer, except for those of lists. */
const SUMMARIES_MAX = 500;

const summaries = new Map<string, { operation: string; summary: string }>();

function summaryOf(sql: string): { operation: string; summary: string } {
  const known = summaries.get(sql);
  if (known) return known;
  const operation = (VERB.exec(sql)?.[1] ?? 'statement').toUpperCase();
  const table = TABLE.exec(sql.slice(0, HEAD))?.[1];
  const made = { operation, summary: table === undefined ? operation : `${operation} ${table}` };
  if (sql.length <= HEAD * 10 && summaries.size < SUMMARIES_MAX) summaries.set(sql, made);
  return made;
}

/**
 * Returns the span of a statement; undefined if tracing is off. Neither its text, into which Sequelize writes values, nor its
 * parameters are recorded.
 * `name` is that of the prepared statement.
 */
export function startStatement(sql: string, name: string | undefined): Span | undefined {
  const { operation, summary } = summaryOf(sql);
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name ?? summary };
  return startSpan(name ?? summary, { kind: 'client', attributes });
}
