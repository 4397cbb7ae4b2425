import { z } from 'zod';
import { invalid } from '../../api/problem.ts';
import { requireText } from './json.ts';

/** Unknown keys are a 400 wherever the keys are known (docs/design/api-conventions.md, Requests and replies), except in an object whose schema says what else it takes. */
export const strict = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;

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
