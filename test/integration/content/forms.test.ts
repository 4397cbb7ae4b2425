import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range } from '../../support/wait.ts';
import { field, filePart, sendForm } from './raw-form.ts';
import { faultsOf } from './tenant-state.ts';

const tenant = serverSuite();

const sent = ({ status, body }: ApiReply): unknown => [status, body.error, body.details?.[0]?.field];

describe('an empty field of an upload is as good as none', () => {
  test.each([
    ['before the file', (name: string) => [field('folder_id', ''), field('on_conflict', ''), filePart('x', name)]],
    ['behind it', (name: string) => [filePart('x', name), field('folder_id', ''), field('on_conflict', '')]],
  ])('%s', async (where, parts) => {
    const first = await sendForm(tenant.admin, parts(`empty ${where}`));
    const second = await sendForm(tenant.admin, parts(`empty ${where}`));

    expect(first.status).toBe(201);
    expect((await tenant.admin.get(`/files/${first.body.id}`)).body.folder).toBeNull();
    expect(sent(second)).toEqual([409, 'name_conflict', undefined]);
  });
});

describe('a field whose text cannot be read is 400 with its name', () => {
  test.each(['cp850', 'UTF-16', 'x-foo', ''])('in the charset "%s"', async (charset) => {
    const folder = (await tenant.admin.post('/folders', { name: `of ${charset}` })).body;
    const type = `text/plain; charset=${charset === '' ? '""' : charset}`;
    const form = (name: string, value: string): Buffer[] => [filePart('x', `charset ${charset}`), field(name, value, type)];

    const replies = [
      await sendForm(tenant.admin, form('folder_id', folder.id)),
      await sendForm(tenant.admin, form('on_conflict', 'rename').reverse()),
    ];

    expect(replies.map(sent)).toEqual([
      [400, 'validation_failed', 'folder_id'],
      [400, 'validation_failed', 'on_conflict'],
    ]);
    expect((await tenant.admin.get('/files', { query: { q: 'charset' } })).body.data).toEqual([]);
  });

  test('in a charset that is read it is taken', async () => {
    const { id } = (await tenant.admin.upload('/files', { file: Buffer.from('1'), name: 'said in Latin' })).body;
    const comment = field('comment', Buffer.from('café', 'latin1'), 'text/plain; charset=ISO-8859-1');

    const reply = await sendForm(tenant.admin, [comment, filePart('2', 'any')], 'PUT', `/files/${id}`);

    expect(reply.status).toBe(200);
    expect((await tenant.admin.get(`/files/${id}/versions`)).body.data[0].comment).toBe('café');
  });

  test('with bytes that are not of its charset', async () => {
    const { id } = (await tenant.admin.upload('/files', { file: Buffer.from('1'), name: 'commented' })).body;
    const broken = Buffer.from('caf\xe9', 'latin1');
    const comments = [field('comment', broken), field('comment', broken, 'text/plain; charset=utf-8')];

    const replies = await Promise.all(
      comments.map((comment) => sendForm(tenant.admin, [comment, filePart('2', 'any')], 'PUT', `/files/${id}`)),
    );

    expect(replies.map(sent)).toEqual(range(2).map(() => [400, 'validation_failed', 'comment']));
    expect((await tenant.admin.get(`/files/${id}`)).body.version).toBe(1);
  });
});

test('a form in which no file was chosen is 400, for a new file and for a version', async () => {
  const { id } = (await tenant.admin.upload('/files', { file: Buffer.from('1'), name: 'kept' })).body;
  const none = [filePart('', '', 'application/octet-stream')];

  const replies = [await sendForm(tenant.admin, none), await sendForm(tenant.admin, none, 'PUT', `/files/${id}`)];

  expect(replies.map(sent)).toEqual(range(2).map(() => [400, 'validation_failed', 'file']));
  expect((await tenant.admin.get(`/files/${id}`)).body).toMatchObject({ version: 1, size: 1 });
});

test('a file whose name is in an unknown charset is 400, and the text says why', async () => {
  const part = filePart('x', 'name.txt').toString('latin1').replace('filename="name.txt"', `filename*=x-foo''na%EFve.txt`);

  const reply = await sendForm(tenant.admin, [Buffer.from(part, 'latin1')]);

  expect(sent(reply)).toEqual([400, 'validation_failed', 'file']);
  expect(reply.body.details[0].message).toContain('charset');
});

test('nothing is left of what was refused', async () => {
  expect(await faultsOf(tenant)).toEqual([]);
});
