import { type Span, startSpan } from '../../runtime/traces.ts';

/** What a statement does to which table, by its first words; its values are never looked at. */
const VERB = /^\s*([a-z]+)\b/i;
const TABLE = /\b(?:from|into|update|join)\s+(?:only\s+)?"?([a-z_]{1,63}(?:\.[a-z_]{1,63})?)\b/i;
/** Where a table is looked for: so much of the text. */
const HEAD = 1_000;
/** Statements whose summary is remembered: the code has fewer, but for those of lists. */
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
 * The span of a statement; undefined where traces are off. Neither its text, which Sequelize writes values into, nor its
 * parameters are recorded.
 * `name`: of the prepared statement.
 */
export function startStatement(sql: string, name: string | undefined): Span | undefined {
  const { operation, summary } = summaryOf(sql);
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name ?? summary };
  return startSpan(name ?? summary, { kind: 'client', attributes });
}
