import { z } from 'zod';
import { invalid, Problem, type ProblemDetail } from '../../api/problem.ts';
import { requireText } from './json.ts';

/** Unknown keys are a 400 wherever we know the keys (design: unknown parameters); an object that says what else it takes is left alone. */
export const strict = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;

/** Checks a value; a Problem that names every field that is wrong. */
export function validate(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.flatMap(detailsOf);
  throw new Problem('validation_failed', details.map(({ field, message }) => `${field}: ${message}`).join('; '), { details });
}

/** More would only help whoever sends garbage. */
const DETAILS_MAX = 20;

function detailsOf(issue: z.core.$ZodIssue): ProblemDetail[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, DETAILS_MAX).map((key) => ({ field: [...path, key].join('.'), message: 'is not known here' }));
  return [{ field: path.join('.') || 'body', message: issue.message }];
}

/** Query parameters as one object. A parameter that is sent twice, or not as percent-encoded UTF-8, is a 400. */
export function parseQuery(search: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '') continue;
    const [name, value] = split(pair).map(decode) as [string, string];
    if (name in query) throw invalid(name, 'is given twice');
    requireText(value, name);
    query[name] = value;
  }
  return { ...query };
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid('query', 'is not percent-encoded UTF-8');
  }
}
