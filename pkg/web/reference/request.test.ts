import { expect, test } from '@jest/globals';
import { type Document, operationOf } from './operation.ts';
import { type Entered, requestOf } from './request.ts';

const parameter = (name: string, location: string, schema: object) => ({ name, in: location, schema });
const DOCUMENT = {
  servers: [{ url: 'https://files.example.org/api/v1' }],
  paths: {
    '/files/{id}': {
      get: {
        operationId: 'getFile',
        parameters: [
          { $ref: '#/components/parameters/tenant' },
          { ...parameter('id', 'path', { type: 'string' }), required: true, example: 'a-file' },
          parameter('tag', 'query', { type: 'array' }),
          parameter('metadata', 'query', { type: 'object' }),
          parameter('limit', 'query', { type: 'integer' }),
          parameter('If-Match', 'header', { type: 'string' }),
        ],
      },
      patch: {
        operationId: 'updateFile',
        requestBody: { required: true, content: { 'application/json': { example: { name: 'b.txt' } } } },
      },
    },
    '/files': {
      post: {
        operationId: 'uploadFile',
        requestBody: { content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/Upload' } } } },
      },
    },
    '/uploads': {
      patch: { operationId: 'appendUpload', requestBody: { content: { 'application/offset+octet-stream': {} } } },
    },
  },
  components: {
    schemas: {
      Upload: {
        required: ['file'],
        properties: { file: { type: 'string', format: 'binary' }, folder_id: { type: 'string' } },
      },
    },
  },
} as unknown as Document;

const NOTHING: Entered = { values: {}, files: {}, body: '', bodyFile: undefined };
const operation = (id: string) => {
  const found = operationOf(DOCUMENT, id);
  if (!found) throw new Error(`the document has no operation ${id}`);
  return found;
};

test('an operation asks for its own parameters, not for those that every operation has', () => {
  expect(operation('getFile').inputs.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['id', 'text', true],
    ['tag', 'list', false],
    ['metadata', 'object', false],
    ['limit', 'text', false],
    ['If-Match', 'text', false],
  ]);
  expect(operationOf(DOCUMENT, 'unknown')).toBeUndefined();
});

test('a request has escaped parameters, repeated ones for a list, name[key] for an object, and none that was left empty', () => {
  const values = { id: 'a/b', tag: 'one\ntwo\n', metadata: 'course=a=b', limit: '', 'If-Match': '"x"' };
  const request = requestOf(operation('getFile'), '/api/v1', { ...NOTHING, values });

  expect(request).toEqual({
    method: 'GET',
    url: '/api/v1/files/a%2Fb?tag=one&tag=two&metadata%5Bcourse%5D=a%3Db',
    headers: { 'If-Match': '"x"' },
    body: undefined,
  });
});

test('a JSON body begins with the example of the document', () => {
  const { body } = operation('updateFile');

  expect(body).toEqual({ kind: 'json', example: '{\n  "name": "b.txt"\n}', isRequired: true });
  expect(requestOf(operation('updateFile'), '', { ...NOTHING, values: { id: 'x' }, body: '{"name":"c"}' })).toMatchObject({
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"c"}',
  });
});

test('a form sends its fields before its file, and a stream sends a file as it is', () => {
  const file = new File(['content'], 'a.txt');
  const form = requestOf(operation('uploadFile'), '', { ...NOTHING, values: { folder_id: 'f' }, files: { file } }).body;
  const stream = requestOf(operation('appendUpload'), '', { ...NOTHING, bodyFile: file });

  expect([...(form as FormData).keys()]).toEqual(['folder_id', 'file']);
  expect([stream.headers, stream.body]).toEqual([{ 'content-type': 'application/offset+octet-stream' }, file]);
});
