import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const KIB = 1024;
const BROKEN_UTF8 = Buffer.from([0xc3, 0x28]);

const tenant = serverSuite();

describe('a JSON body', () => {
  const send = (body: string | Buffer | Readable, headers: Record<string, string> = {}): Promise<ApiReply> =>
    tenant.admin.raw('POST', '/folders', { body, headers: { 'content-type': 'application/json', ...headers } });
  const answer = ({ status, body }: ApiReply): unknown[] => [status, body.error, ...(body.details ?? [])];
  const refusedField = (field: string, message: string): unknown[] => [400, 'validation_failed', { field, message }];

  test.each<[string, string | Buffer, string, string]>([
    [
      'of bytes that are not UTF-8',
      Buffer.concat([Buffer.from('{"name":"'), BROKEN_UTF8, Buffer.from('"}')]),
      'body',
      'is not UTF-8',
    ],
    ['of 33 nested lists', `{"name":${'['.repeat(32)}${']'.repeat(32)}}`, 'body', 'is nested deeper than 32 levels'],
    ['that is cut off', '{"name":', 'body', 'is not JSON'],
    ['of nothing', '', 'body', 'is not JSON'],
    ['of a byte order mark alone', '\u{feff}', 'body', 'is not JSON'],
    ['of blanks', ' \n', 'body', 'is not JSON'],
    ['of a number', '1', 'body', 'must be an object'],
    ['of a string', '"name"', 'body', 'must be an object'],
    ['of null', 'null', 'body', 'must be an object'],
    ['with the key __proto__', '{"name":"a","__proto__":{"name":"b"}}', '__proto__', 'is not a known field'],
    ['with that key escaped', String.raw`{"name":"a","\u005f_proto__":{}}`, '__proto__', 'is not a known field'],
    ['with the key constructor', '{"name":"a","constructor":{"prototype":{}}}', 'constructor', 'is not a known field'],
    ['with a NUL', String.raw`{"name":"\u0000"}`, 'name', 'holds a NUL character'],
    ['with half a surrogate pair', String.raw`{"name":"\ud800"}`, 'name', 'is not well-formed Unicode'],
  ])('%s is a 400 that says so', async (_what, body, field, message) => {
    expect(answer(await send(body))).toEqual(refusedField(field, message));
  });

  test('says where a key __proto__ stands that is not at the top', async () => {
    const webhook = '{"url":"https://receiver.example.org/","events":["file.created"],"headers":{"__proto__":"a"}}';

    const reply = await tenant.admin.post('/webhooks', webhook);

    expect(answer(reply)).toEqual(refusedField('headers.__proto__', 'is not a known field'));
  });

  test('may begin with a byte order mark', async () => {
    const reply = await send('\u{feff}{"name":"marked"}');

    expect([reply.status, reply.body.name]).toEqual([201, 'marked']);
  });

  test.each(['gzip', 'identity', 'br'])('with Content-Encoding %s is a 415', async (encoding) => {
    expect(answer(await send('{"name":"a"}', { 'content-encoding': encoding }))).toEqual([415, 'unsupported_media_type']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/vnd.api+json', 'application/json; charset=latin1'])(
    'of the type %s is a 415',
    async (type) => {
      expect(answer(await send('{"name":"a"}', { 'content-type': type }))).toEqual([415, 'unsupported_media_type']);
    },
  );

  test('of more than 1 MiB is a 413, whether its length is declared or not', async () => {
    const body = Buffer.from(JSON.stringify({ name: 'x'.repeat(KIB * KIB) }));

    expect(answer(await send(body))).toEqual([413, 'payload_too_large']);
    expect(answer(await send(Readable.from([body])))).toEqual([413, 'payload_too_large']);
  });

  test('that has a field twice counts with the last', async () => {
    const reply = await send('{"name":"first","name":"second"}');

    expect([reply.status, reply.body.name]).toEqual([201, 'second']);
  });
});

describe('a form', () => {
  /** The answer of an address that takes forms: its status and code. */
  const post = async (
    path: string,
    body: string | Buffer | Readable,
    headers: Record<string, string> = {},
  ): Promise<[number, string | undefined]> => {
    const reply = await tenant.anonymous.raw('POST', `${tenant.url}${path}`, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
    });
    return [reply.status, reply.body?.error];
  };
  const STATE = 'A'.repeat(43);

  test.each<[string, string, string]>([
    ['of nothing', '', 'state_missing'],
    ['with a state', `state=${STATE}`, 'state_not_bound'],
    ['with its state twice', `state=${STATE}&state=${STATE}`, 'parameter_repeated'],
    ['with its state twice, once with its name escaped', `state=${STATE}&%73tate=${STATE}`, 'parameter_repeated'],
    ['with its state in brackets', `[state]=${STATE}`, 'state_missing'],
    ['with a list of states', `state[]=${STATE}`, 'state_missing'],
    ['with a state in an object', `state[a]=${STATE}&state.a=${STATE}`, 'state_missing'],
    ['with a state that holds ]=', 'state=a]=b', 'state_malformed'],
    ['with an escaped ] in its state', 'state=a%5D=b', 'state_malformed'],
    ['with a comma in its state', 'state=a,b', 'state_malformed'],
    ['with the name __proto__', `__proto__=a&__proto__[state]=${STATE}&constructor[prototype][state]=${STATE}`, 'state_missing'],
    ['with 999 other fields before its state', `${'a=1&'.repeat(999)}state=${STATE}`, 'state_not_bound'],
  ])('%s is read as it was sent', async (_what, body, code) => {
    expect(await post('/launch', body)).toEqual([400, code]);
  });

  test('of bytes that are not UTF-8 has no such value', async () => {
    expect(await post('/launch', Buffer.concat([Buffer.from('state='), BROKEN_UTF8]))).toEqual([400, 'state_malformed']);
    expect(await post('/launch', 'state=%c3%28&%zz=1')).toEqual([400, 'state_malformed']);
  });

  test.each([
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded; charset=latin1',
    '',
  ])('of the type %j is a 415', async (type) => {
    expect(await post('/launch', `state=${STATE}`, { 'content-type': type })).toEqual([415, 'unsupported_media_type']);
  });

  test('is not decompressed', async () => {
    expect(await post('/launch', `state=${STATE}`, { 'content-encoding': 'gzip' })).toEqual([400, 'state_not_bound']);
  });

  test('of more than 256 KiB is a 413, whether its length is declared or not', async () => {
    const body = Buffer.from(`state=${'A'.repeat(256 * KIB)}`);

    expect(await post('/launch', body)).toEqual([413, 'payload_too_large']);
    expect(await post('/launch', Readable.from([body]))).toEqual([413, 'payload_too_large']);
  });

  test('of more than 1,000 fields is a 413', async () => {
    expect(await post('/launch', `${'a=1&'.repeat(1000)}state=${STATE}`)).toEqual([413, 'payload_too_large']);
  });
});
