import { afterEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import type { Api } from '../../support/clients/api.ts';
import { heldBeyond, restingBytes } from '../../support/measures/memory.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';

/** The folders have paths of 1,900 characters, which take 2 KiB in an archive, where names are cut to 255 bytes. */
const FOLDERS = 4_000;
/** A few hundred bytes for each of them in two archives, and what is on its way. */
const BOUND = 12 << 20;

const tenant = serverSuite({ transfers: { archivesPerPerson: 2, archiveBytes: 4 << 20 } });

const folder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const file = async (api: Api, folder_id: string, name: string, content: string | Buffer): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: { folder_id } })).body.id;

/**
 * Returns the entries of a ZIP archive by path: a file's content, null for a folder. Throws where the archive is damaged or has
 * an entry twice.
 */
async function entriesOf(archive: Buffer): Promise<Record<string, string | null>> {
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  const entries: Record<string, string | null> = {};
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName in entries) throw new Error(`${entry.fileName} is in the archive twice`);
    const content = entry.fileName.endsWith('/') ? null : await buffer(await zip.openReadStreamPromise(entry));
    entries[entry.fileName] = content && content.toString();
  }
  return entries;
}

/** Unpacks an archive by Python. Returns the content of each file by its path. Throws when it cannot unpack all. */
function unpack(archive: Buffer): Record<string, string> {
  const script = `import io, json, os, sys, tempfile, zipfile
with tempfile.TemporaryDirectory() as out:
    zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).extractall(out)
    files = [os.path.join(d, f) for d, _, fs in os.walk(out) for f in fs]
    print(json.dumps({os.path.relpath(f, out): open(f, encoding='utf8').read() for f in files}))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: archive, encoding: 'utf8' })) as Record<string, string>;
}

const begun: (() => void)[] = [];
afterEach(() => {
  for (const end of begun.splice(0)) end();
});

/** A download of which nothing is read beyond the first bytes. */
async function unread(api: Api, path: string): Promise<IncomingMessage> {
  const sent = request(`${api.url}${path}`, { agent: false, headers: { authorization: `Bearer ${api.token}` } }).end();
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  begun.push(() => response.destroy());
  await once(response, 'readable');
  return response;
}

describe('the archive of a folder', () => {
  test('holds all live items below, with its own name on top, in three statements and at most two a folder', async () => {
    const { api } = await tenant.user();
    const top = await folder(api, 'Übung 1', await folder(api, 'above'));
    const [below, empty] = [await folder(api, '第二', top), await folder(api, 'empty', top)];
    const large = 'large '.repeat(20_000);
    await file(api, top, 'large.txt', large);
    for (const n of range(20)) await file(api, below, `${n}.txt`, `content ${n}`);
    await file(api, below, 'nothing', '');
    const trashed = await file(api, top, 'trashed.txt', 'x');
    await api.delete(`/files/${trashed}`);
    await api.delete(`/folders/${await folder(api, 'trashed', top)}`);

    const { reply, sql } = await tenant.counting(() => api.get(`/folders/${top}/zip`));

    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="_bung 1.zip"; filename*=UTF-8''%C3%9Cbung%201.zip`,
      'x-content-type-options': 'nosniff',
    });
    expect(await entriesOf(reply.bytes)).toEqual({
      'Übung 1/': null,
      'Übung 1/large.txt': large,
      'Übung 1/第二/': null,
      'Übung 1/第二/nothing': '',
      ...Object.fromEntries(range(20).map((n) => [`Übung 1/第二/${n}.txt`, `content ${n}`])),
      'Übung 1/empty/': null,
    });
    expect([sql.length, (await api.head(`/folders/${empty}/zip`)).status]).toEqual([6, 200]);
  });

  test('of empty folders takes a statement for twenty of them', async () => {
    const { api } = await tenant.user();
    const top = await folder(api, 'top');
    await tenant.db.query(
      `INSERT INTO folders (uuid, name, path, parent_id, owner_id)
       SELECT gen_random_uuid(), 'empty ' || n, d.path || '/empty ' || n, d.id, d.owner_id
       FROM folders d, generate_series(1, 400) n WHERE d.uuid = $1`,
      [top],
    );

    const { reply, sql } = await tenant.counting(() => api.get(`/folders/${top}/zip`));

    expect(Object.keys(await entriesOf(reply.bytes))).toHaveLength(401);
    expect(sql.length).toBeLessThan(30);
  });

  test('is for whoever may read the folder, by a link without a token too, and not while it is in the trash', async () => {
    const [owner, reader, stranger] = [await tenant.user(), await tenant.user(), await tenant.user()];
    const id = await folder(owner.api, 'shared');
    await file(owner.api, id, 'a.txt', 'a');
    await owner.api.post(`/folders/${id}/permissions`, { user_id: reader.user.id, permission_level: 'read' });
    const ticket = await reader.api.post(`/folders/${id}/ticket`);
    const byLink = await tenant.anonymous.raw('GET', ticket.body.url);
    const refused = [
      await stranger.api.get(`/folders/${id}/zip`),
      await stranger.api.post(`/folders/${id}/ticket`),
      await tenant.anonymous.get(`/folders/${id}/zip`),
    ];
    await owner.api.delete(`/folders/${id}`);
    const after = [await owner.api.get(`/folders/${id}/zip`), await tenant.anonymous.raw('GET', ticket.body.url)];

    expect([ticket.status, ticket.body.expires_in, byLink.status]).toEqual([201, 60, 200]);
    expect(await entriesOf(byLink.bytes)).toEqual({ 'shared/': null, 'shared/a.txt': 'a' });
    expect([...refused, ...after].map(({ status }) => status)).toEqual([404, 404, 401, 404, 404]);
  });

  test('breaks off where a file cannot be read, rather than to leave it out', async () => {
    const { api } = await tenant.user();
    const id = await folder(api, 'damaged');
    const large = await file(api, id, 'b.txt', Buffer.alloc(100_000));
    for (const name of ['a.txt', 'c.txt']) await file(api, id, name, name);
    const [row] = await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [large]);
    await tenant.objects.delete([row?.key ?? '']);

    // Before the first bytes have gone out it can still be an error.
    const outcome = await api.get(`/folders/${id}/zip`).then(
      ({ status }) => status,
      () => 'broken off',
    );
    expect([500, 'broken off']).toContain(outcome);
  });

  test('is one transfer of its user, and none any more when the client has gone; memory does not grow with it', async () => {
    const { api } = await tenant.user();
    const id = await folder(api, 'much');
    await inParallel(range(4), 2, (n) => file(api, id, `${n}.bin`, Buffer.alloc(15 << 20, n)));
    const before = await restingBytes();
    const two = [await unread(api, `/folders/${id}/zip`), await unread(api, `/folders/${id}/zip`)];
    const third = await api.get(`/folders/${id}/zip`);
    const held = await heldBeyond(before, 20 << 20);
    for (const response of two) response.destroy();
    const whole = await waitFor('a slot', async () => {
      const reply = await api.get(`/folders/${id}/zip`);
      return reply.status === 200 && reply;
    });

    expect(third).toMatchObject({ status: 429, body: { error: 'too_many_transfers' } });
    expect(held).toBeLessThan(20 << 20);
    expect(whole.bytes.length).toBeGreaterThan(60 << 20);
  });

  test('unpacks whole on every system: what would be one path is renamed, and _renamed.txt lists each change', async () => {
    const { api } = await tenant.user();
    const top = await folder(api, 'Term');
    for (const name of ['plan', 'y.', 'nul.txt', 'a<b>.txt']) await file(api, top, name, name);
    await file(api, await folder(api, 'plan', top), 'a.txt', 'in the folder');
    await file(api, await folder(api, 'Etc.', top), 'inner.txt', 'in Etc.');

    const { bytes } = await api.get(`/folders/${top}/zip`);
    const again = await api.get(`/folders/${top}/zip`);

    const unpacked = unpack(bytes);
    const { 'Term/_renamed.txt': renamed, ...others } = unpacked;
    expect(others).toEqual({
      'Term/plan': 'plan',
      'Term/y_': 'y.',
      'Term/nul_.txt': 'nul.txt',
      'Term/a_b_.txt': 'a<b>.txt',
      'Term/plan (1)/a.txt': 'in the folder',
      'Term/Etc_/inner.txt': 'in Etc.',
    });
    for (const line of ['Term/plan (1)\n    was: plan\n', 'Term/Etc_\n    was: Etc.\n', 'Term/nul_.txt\n    was: nul.txt\n'])
      expect(renamed).toContain(line);
    expect(Buffer.compare(bytes, again.bytes)).toBe(0);
  });

  test('with long paths takes no memory for each entry; archives at once are limited, and one too large is a 422', async () => {
    const { api } = await tenant.user();
    let deepest = await folder(api, '長'.repeat(240));
    const top = deepest;
    for (const _ of range(7)) deepest = await folder(api, '長'.repeat(240), deepest);
    const fill = async (count: number, prefix: string, id: string): Promise<void> => {
      // A statement of a tenant may take 8 s.
      for (let from = 1; from <= count; from += 250)
        await tenant.db.query(
          `INSERT INTO folders (uuid, name, path, parent_id, owner_id)
           SELECT gen_random_uuid(), $2::text || n, d.path || '/' || $2::text || n, d.id, d.owner_id
           FROM folders d, generate_series($4::int, least($1::int, $4::int + 249)) n WHERE d.uuid = $3`,
          [count, prefix, id, from],
        );
    };
    await fill(FOLDERS, '', deepest);
    const before = await restingBytes();
    let highest = 0;

    const sizes = await Promise.all(
      range(2).map(async () => {
        let [bytes, looked] = [0, 0];
        for await (const chunk of await api.download(`/folders/${top}/zip`)) {
          bytes += (chunk as Buffer).length;
          if (bytes - looked < 8 << 20) continue;
          looked = bytes;
          highest = Math.max(highest, await heldBeyond(before, BOUND));
        }
        return bytes;
      }),
    );

    expect(Math.min(...sizes)).toBeGreaterThan(FOLDERS * 2 * 2_000);
    expect(highest).toBeLessThan(BOUND);
    const wide = await folder(api, 'wide');
    await fill(2 * FOLDERS, 'x'.repeat(150), wide);
    expect(await api.get(`/folders/${wide}/zip`)).toMatchObject({ status: 422, body: { error: 'archive_too_large' } });
  });
});
