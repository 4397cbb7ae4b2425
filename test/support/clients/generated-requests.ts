import fc from 'fast-check';
import { type Described, type Document, type Parameter, parametersOf, type Schema } from './openapi.ts';

/** A request made from the description of an operation. */
export interface GeneratedRequest {
  readonly operation: Described;
  /** The fault of the request; null when the description allows it. */
  readonly fault: string | null;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none is sent. */
  readonly body: unknown;
}

const OPTIONAL_LENGTH = 40;

/** Values of the kinds of JSON Schema that the API's document uses. Throws for another kind. */
export class Values {
  readonly #document: Document;

  constructor(document: Document) {
    this.#document = document;
  }

  of(schema: Schema): fc.Arbitrary<unknown> {
    if (typeof schema.$ref === 'string')
      return this.of(this.#document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema);
    if (Object.keys(schema).length === 0) return fc.jsonValue({ maxDepth: 2 });
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
    if (Array.isArray(schema.anyOf) && schema.type === undefined)
      return fc.oneof(...(schema.anyOf as Schema[]).map((each) => this.of(each)));
    if (Array.isArray(schema.oneOf) && schema.type === undefined)
      return fc.oneof(...(schema.oneOf as Schema[]).map((each) => this.of(each)));
    if (schema.type === 'boolean') return fc.boolean();
    if (schema.type === 'null') return fc.constant(null);
    if (schema.type === 'integer') return fc.integer(bounds(schema));
    if (schema.type === 'number') return fc.integer({ min: 1, max: 99_999 }).map((cents) => cents / 100);
    if (schema.type === 'string') return text(schema);
    if (schema.type === 'array')
      return fc.uniqueArray(this.of(schema.items as Schema), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Number(schema.maxItems ?? 3),
      });
    if (schema.type === 'object') return this.#object(schema);
    throw new Error(`no values are known of ${JSON.stringify(schema).slice(0, 200)}`);
  }

  #object(schema: Schema): fc.Arbitrary<unknown> {
    const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const required = [...((schema.required ?? []) as string[])];
    const oneOf = (schema.oneOf ?? [{}]) as Schema[];
    const anyOf = (schema.anyOf ?? [{}]) as Schema[];
    const excluded = new Set(oneOf.flatMap((each) => (each.required ?? []) as string[]));
    return fc.tuple(fc.constantFrom(...oneOf), fc.constantFrom(...anyOf)).chain(([alternative, least]) => {
      const chosen = (alternative.required ?? []) as string[];
      const wanted = [...new Set([...required, ...chosen, ...((least.required ?? []) as string[])])];
      if (wanted.length === 0 && schema.minProperties !== undefined && fields[0]) wanted.push(fields[0][0]);
      const taken = fields.filter(([name]) => !excluded.has(name) || chosen.includes(name));
      return fc.record(Object.fromEntries(taken.map(([name, part]) => [name, this.of(part)])), { requiredKeys: wanted });
    });
  }
}

const bounds = ({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): { min: number; max: number } => ({
  min: Number(minimum),
  max: Number(maximum),
});

function text(schema: Schema): fc.Arbitrary<string> {
  const [least, most] = [Number(schema.minLength ?? 0), Number(schema.maxLength ?? OPTIONAL_LENGTH)];
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'date-time')
    return fc
      .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (typeof schema.pattern !== 'string' || schema.pattern === '^[^\\u0000]*$')
    return fc
      .string({ unit: 'grapheme', minLength: least, maxLength: Math.min(Math.max(most, least), least + OPTIONAL_LENGTH) })
      .filter((value) => Array.from(value).length <= most && !value.includes('\0'));
  // A pattern without a length bounds it itself.
  const bound = schema.maxLength === undefined ? Infinity : most;
  return matching(schema.pattern).filter(
    (value) => Array.from(value).length >= least && Array.from(value).length <= bound && value.isWellFormed(),
  );
}

/**
 * Caches generators by their patterns: fast-check takes milliseconds to make one, and an object asks for those of its fields
 * each time.
 */
const made = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
  const found = made.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  made.set(pattern, found);
  return found;
}

/** Headers that name a state or a tenant: with made-up values nearly every request would end at them. */
const SELDOM = new Set(['If-Match', 'X-Request-Id', 'Idempotency-Key']);
/** Matches headers that the description does not restrict. Clients send printable ASCII. */
const PRINTABLE = { pattern: '^[!-~]{1,40}$' };

/** Requests of an operation, valid and not; `known`: ids of what is there, by the name of the path's parameter. */
export function requestsOf(
  document: Document,
  operation: Described,
  known: (parameter: string, path: string) => readonly string[],
): fc.Arbitrary<GeneratedRequest> {
  const values = new Values(document);
  const parameters = parametersOf(document, operation);
  const within = (location: Parameter['in']): Parameter[] =>
    parameters.filter((parameter) => parameter.in === location && parameter.name !== 'cursor');
  const record = (location: Parameter['in'], optional: (name: string) => boolean): fc.Arbitrary<Record<string, string>> =>
    fc
      .record(
        Object.fromEntries(
          within(location)
            .filter(({ required, name }) => required || optional(name))
            .map(({ name, schema }) => [name, values.of(location === 'header' ? { ...PRINTABLE, ...schema } : schema)]),
        ),
        {
          requiredKeys: within(location)
            .filter(({ required }) => required)
            .map(({ name }) => name),
        },
      )
      .map((found) => Object.fromEntries(Object.entries(found).flatMap(([name, value]) => sentAs(name, value))));
  const path = fc
    .tuple(
      ...within('path').map(({ name, schema }) =>
        fc.oneof(values.of(schema), ...known(name, operation.path).map((id) => fc.constant(id))),
      ),
    )
    .map((found) =>
      within('path').reduce(
        (text, { name }, at) => text.replace(`{${name}}`, encodeURIComponent(String(found[at]))),
        operation.path,
      ),
    );
  const schema = operation.requestBody?.content['application/json']?.schema;
  const valid: fc.Arbitrary<GeneratedRequest> = fc.record({
    operation: fc.constant(operation),
    fault: fc.constant(null),
    path,
    query: record('query', () => true),
    headers: record('header', (name) => !SELDOM.has(name)),
    body: schema ? values.of(schema) : fc.constant(undefined),
  });
  return fc.oneof(
    { weight: 1, arbitrary: valid },
    {
      weight: 1,
      arbitrary: fc.tuple(valid, fc.nat()).map(([request, at]) => broken(request, at, parameters, schema !== undefined)),
    },
  );
}

/** Sends only the first item of a list, since a query here has each name once. */
function sentAs(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => [name, String(item)]);
  if (value === null || typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, String(item)]);
}

/** Returns the request with one fault. */
function broken(request: GeneratedRequest, at: number, parameters: readonly Parameter[], takesJson: boolean): GeneratedRequest {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const first = Object.keys(body)[0];
  const faults: GeneratedRequest[] = [{ ...request, fault: 'an unknown parameter', query: { ...request.query, colour: 'red' } }];
  for (const { name, in: location, schema } of parameters) {
    if (location === 'query' && schema.type !== 'string' && schema.type !== 'array')
      faults.push({ ...request, fault: `${name}=?`, query: { ...request.query, [name]: '?' } });
    if (location === 'query' && typeof schema.pattern === 'string' && !new RegExp(schema.pattern).test('\0'))
      faults.push({ ...request, fault: `a NUL in ${name}`, query: { ...request.query, [name]: '\0' } });
    if (location === 'path' && schema.format === 'uuid')
      faults.push({ ...request, fault: `${name} is no UUID`, path: request.operation.path.replaceAll(/\{\w+\}/g, 'no-uuid') });
    if (location === 'header' && typeof schema.pattern === 'string' && name !== 'X-Tenant-ID')
      faults.push({ ...request, fault: `${name} is malformed`, headers: { ...request.headers, [name]: 'with "space' } });
  }
  if (takesJson) {
    faults.push(
      { ...request, fault: 'an unknown field', body: { ...body, colour: 'red' } },
      { ...request, fault: 'a list for a body', body: [] },
    );
    if (first !== undefined) faults.push({ ...request, fault: `${first} is a list of lists`, body: { ...body, [first]: [[]] } });
  }
  return faults[at % faults.length] as GeneratedRequest;
}
