import { expect, test } from '@jest/globals';
import { typesOfDocument } from './typescript.ts';

const text = { type: 'string' };
const ok = (schema: unknown) => ({ 200: { content: { 'application/json': { schema } } } });

function typesOf(operation: object, schemas: Record<string, unknown> = {}): string {
  const whole = { summary: 'An operation', parameters: [], responses: {}, ...operation };
  return typesOfDocument({ paths: { '/things/{id}': { get: whole, head: whole } }, components: { schemas } });
}

test('an operation becomes its parameters, its body and its replies of success; HEAD is left out', () => {
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: text },
    { name: 'limit', in: 'query', schema: { type: 'integer' } },
    { name: 'If-Match', in: 'header', schema: text },
    { $ref: '#/components/parameters/tenant' },
  ];
  const requestBody = { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } };
  const responses = { ...ok({ $ref: '#/components/schemas/Thing' }), 204: {}, 404: ok(text)[200] };

  const types = typesOf({ parameters, requestBody, responses });

  expect(types).toContain(`export interface Operations {
  /** An operation */
  'GET /things/{id}': {
    path: { id: string };
    query: { limit?: number | undefined };
    body: Thing;
    reply: Thing | undefined;
  };
}`);
});

test.each([
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number | null'],
  [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
  [{ type: 'boolean', const: true }, 'true'],
  [{ type: 'array', items: text }, 'readonly (string)[]'],
  [{ type: 'object', additionalProperties: text }, 'Readonly<Record<string, string>>'],
  [{}, 'unknown'],
  [
    { type: 'object', properties: { a: text, 'b-c': text }, required: ['a'], anyOf: [{ required: ['b-c'] }] },
    '{\n  readonly a: string;\n  readonly "b-c"?: string;\n}',
  ],
])('the schema %j becomes the type %j', (schema, type) => {
  expect(typesOf({}, { Thing: schema })).toContain(`export type Thing = ${type};\n`);
});
