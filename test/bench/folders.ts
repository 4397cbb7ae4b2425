import { readFileSync } from 'node:fs';
import pg from 'pg';
import { Agent, request } from 'undici';
import { quoteIdentifier } from '../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { fillWithFiles } from './filled.ts';
import { byTurns, costLine, countOperations, type Line, progress, rateLine } from './measure.ts';
import type { Measured } from './turn.ts';

const FILES = 1_000_000;
/** `fillWithFiles` puts a tenth into each of ten folders. */
const MOVED = FILES / 10;
const ARCHIVED = 10_000;
const KIB = 1024;
const ARCHIVE_GROWTH_MIB = 64;
const ROUNDS = 3;
const PAGE = 200;
const DEEP_PAGE = 450;
const PAGES = 25;

/**
 * A folder of 100,000 files among a million, moved and trashed, beside the bare UPDATE of as many rows; and an archive of 10,000
 * files.
 */
export async function folders(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const superuser = new pg.Client({ connectionString: stores.postgres.superuser });
  await superuser.connect();
  await superuser.query(`SET search_path TO ${quoteIdentifier(tenantRole(tenant.slug))}`);
  try {
    const { user, password } = await tenant.user();
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(user.email, password);
    progress(`writing ${FILES} files`);
    await fillWithFiles(stores, tenant, user.email, [[1, FILES]]);
    const folder = async (name: string): Promise<string> =>
      (await api.get('/folders', { query: { q: name, limit: 1 } })).body.data[0].id as string;
    const [moved, trashed, other] = [await folder('folder 1'), await folder('folder 2'), await folder('folder 3')];

    const bare = async (): Promise<number> => took(() => rewrite(superuser, other));
    let isInside = false;
    const moving = await byTurns(
      () =>
        took(async () => {
          isInside = !isInside;
          await must(api.patch(`/folders/${moved}`, { parent_id: isInside ? other : null }), 200);
        }),
      bare,
      { rounds: ROUNDS },
    );
    let isTrashed = false;
    const trashing = await byTurns(
      () =>
        took(async () => {
          isTrashed = !isTrashed;
          await (isTrashed ? must(api.delete(`/folders/${trashed}`), 204) : must(api.post(`/folders/${trashed}/restore`), 200));
        }),
      bare,
      { rounds: ROUNDS },
    );
    const children = await deepPages(api, `/folders/${moved}/children`);
    const entries = await deepPages(
      await new Api(api.url).login(tenant.administrator.email, tenant.administrator.password),
      '/audit',
    );
    return [
      costLine(`PATCH folder: moves ${MOVED} files`, moving, 'one UPDATE of as many paths', 2, 'ms'),
      costLine(`DELETE folder and its restoration: ${MOVED} files`, trashing, 'one UPDATE of as many paths', 4, 'ms'),
      rateLine(`GET children, page ${DEEP_PAGE} of ${MOVED} files`, children, 'page 1', 0.8),
      rateLine(`GET audit, page ${DEEP_PAGE} of the entries of these`, entries, 'page 1', 0.8),
      await archive(superuser, api, server.pid),
    ];
  } finally {
    await server.end('SIGTERM');
    await superuser.end();
    await tenant.stop();
  }
}

/** The pages from a deep one on, beside the first ones. */
async function deepPages(api: Api, path: string): Promise<Measured> {
  const walk = async (pages: number, from?: string): Promise<string> => {
    let cursor = from;
    for (let page = 0; page < pages; page += 1) {
      const { status, body } = await api.get(path, { query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) } });
      if (status !== 200 || body.data.length < PAGE) throw new Error(`${path} answered ${status}, ${body.data?.length} items`);
      cursor = body.pagination.next_cursor as string;
    }
    return cursor as string;
  };
  const deep = await walk(DEEP_PAGE - 1);
  const rate = (from?: string) => async (): Promise<number> => (PAGES * 1000) / (await took(() => walk(PAGES, from), PAGES));
  return byTurns(rate(deep), rate(), { own: true });
}

async function took(work: () => Promise<unknown>, operations = 1): Promise<number> {
  const started = performance.now();
  await work();
  countOperations(operations);
  return performance.now() - started;
}

async function must(reply: Promise<{ status: number; body: unknown }>, status: number): Promise<void> {
  const got = await reply;
  if (got.status !== status) throw new Error(`answered ${got.status}, not ${status}: ${JSON.stringify(got.body)}`);
}

/** Writes the same rows again as a move does, without the move's checks and events. */
const rewrite = (client: pg.Client, folder: string): Promise<unknown> =>
  client.query(
    `UPDATE files f SET path = d.path || substr(f.path, char_length(d.path) + 1) FROM folders d
     WHERE d.uuid = $1 AND f.folder_id = d.id`,
    [folder],
  );

/**
 * Archives of few files and of many, of 64 KiB each: by how much more the server's memory grows with the many. The buffers under
 * way are the same.
 */
async function archive(superuser: pg.Client, api: Api, pid: number): Promise<Line> {
  const agent = new Agent({ connections: 1 });
  try {
    const few = await archivedFolder(superuser, api, ARCHIVED / 4);
    const many = await archivedFolder(superuser, api, ARCHIVED);
    progress(`archives of ${ARCHIVED / 4} and of ${ARCHIVED} files`);
    const before = await mostResidentMib(pid, () => download(agent, api, few, ARCHIVED / 4));
    const started = performance.now();
    const growth = (await mostResidentMib(pid, () => download(agent, api, many, ARCHIVED))) - before;
    return {
      what: `GET zip of ${ARCHIVED} files, ${(ARCHIVED * 64) / KIB} MiB: memory`,
      ours: `${growth < 0 ? '' : '+ '}${Math.round(growth)} MiB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
      control: `${Math.round(before)} MiB with a quarter of them`,
      target: `< + ${ARCHIVE_GROWTH_MIB} MiB`,
      met: growth < ARCHIVE_GROWTH_MIB,
    };
  } finally {
    await agent.close();
  }
}

/** Its files share one object. */
async function archivedFolder(superuser: pg.Client, api: Api, files: number): Promise<string> {
  const id = (await api.post('/folders', { name: `archived ${files}` })).body.id as string;
  const file = await api.upload('/files', { name: 'one.bin', file: Buffer.alloc(64 * KIB, 7), fields: { folder_id: id } });
  if (file.status !== 201) throw new Error(`an upload was answered ${file.status}`);
  await superuser.query(
    `INSERT INTO files (uuid, name, path, mime_type, size, checksum, owner_id, folder_id, blob_name)
     SELECT gen_random_uuid(), n || '.bin', d.path || '/' || n || '.bin', f.mime_type, f.size, f.checksum, f.owner_id,
       f.folder_id, f.blob_name
     FROM files f JOIN folders d ON d.id = f.folder_id, generate_series(2, $2) n WHERE f.uuid = $1`,
    [file.body.id, files],
  );
  return id;
}

async function download(agent: Agent, api: Api, folder: string, files: number): Promise<void> {
  const reply = await request(`${api.url}/folders/${folder}/zip`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${api.token}` },
  });
  let bytes = 0;
  for await (const chunk of reply.body as AsyncIterable<Buffer>) bytes += chunk.length;
  if (reply.statusCode !== 200 || bytes < files * 64 * KIB)
    throw new Error(`the archive was answered ${reply.statusCode}, ${bytes} bytes`);
}

/** The most that a process has of the machine's memory while something is done. */
async function mostResidentMib(pid: number, work: () => Promise<void>): Promise<number> {
  let most = residentMib(pid);
  const watching = setInterval(() => (most = Math.max(most, residentMib(pid))), 50);
  try {
    await work();
    return most;
  } finally {
    clearInterval(watching);
  }
}

const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
