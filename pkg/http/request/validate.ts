import { z } from 'zod';
import { invalid } from '../../api/problem.ts';
import { requireText } from './json.ts';

/**
 * Unknown keys are a 400 wherever the keys are known (docs/design/api-conventions.md, Requests and replies), except in an object
 * whose schema allows others.
 */
export const strict = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;

/** The query parameters that are more than one text, by their schemas: `tag=a&tag=b` is a list, `metadata[a]=b` an object. */
interface QueryForms {
  readonly lists: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
}

export function queryForms(query: z.ZodObject): QueryForms {
  const named = (kind: QueryKind): ReadonlySet<string> =>
    new Set(
      Object.entries(query.shape as Record<string, z.ZodType>).flatMap(([name, part]) =>
        queryKind(part) === kind ? [name] : [],
      ),
    );
  return { lists: named('list'), objects: named('object') };
}

type QueryKind = 'list' | 'object' | 'text';

export function queryKind(schema: z.ZodType): QueryKind {
  if (schema instanceof z.ZodOptional) return queryKind(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return 'list';
  return schema instanceof z.ZodRecord ? 'object' : 'text';
}

const NO_FORMS: QueryForms = { lists: new Set(), objects: new Set() };
const MEMBER = /^([^[\]]*)\[(.*)\]$/s;

/**
 * Returns query parameters as one object. A parameter that is not percent-encoded UTF-8, or is sent twice and is not a list, is a
 * 400.
 */
export function parseQuery(search: string, { lists, objects }: QueryForms = NO_FORMS): Record<string, unknown> {
  if (search === '') return {};
  const query = new Map<string, unknown>();
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '') continue;
    const [name, value] = split(pair).map(decode) as [string, string];
    requireText(value, name);
    const [, object = '', key = ''] = MEMBER.exec(name) ?? [];
    if (lists.has(name)) query.set(name, [...((query.get(name) as string[] | undefined) ?? []), value]);
    else if (objects.has(object)) query.set(object, withMember(query.get(object), key, value, name));
    else if (query.has(name)) throw invalid(name, 'must not be repeated');
    else query.set(name, value);
  }
  return Object.fromEntries(query);
}

/** Adds a member to an object; `metadata=` beside `metadata[key]=` is refused. */
function withMember(present: unknown, key: string, value: string, name: string): unknown {
  if (typeof present === 'string') throw invalid(name, 'must not be repeated');
  requireText(key, name);
  const members = new Map(Object.entries((present as Record<string, string> | undefined) ?? {}));
  if (members.has(key)) throw invalid(name, 'must not be repeated');
  if (key === '__proto__') throw invalid(name, 'is not a known field');
  return Object.fromEntries(members.set(key, value));
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
