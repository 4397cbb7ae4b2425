import pg from 'pg';
import { Agent, request } from 'undici';
import { page, pageRequest } from '../../pkg/api/paging.ts';
import { FILES, fileList } from '../../pkg/content/files/file-list.sql.ts';
import type { FileRow } from '../../pkg/content/files/files.sql.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/api.ts';
import { freePort } from '../support/ports.ts';
import { startTenant } from '../support/server.ts';
import type { TestStores } from '../support/stores.ts';
import { range } from '../support/wait.ts';
import { fillWithFiles } from './filled.ts';
import { byTurns, type Line, perSecond, rateLine } from './measure.ts';

const REQUESTS = 1_000;
const AT_ONCE = 16;
const LIMIT = 100;
const MANY = 1_000_000;
const DEEP_PAGE = 5_000;
const ORDER = pageRequest({ limit: LIMIT }, FILES.order);

/** Pages of a list a second: of few files beside the same SELECT by node-postgres and JSON.stringify; deep in many files beside the first page. */
export async function lists(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const pool = new pg.Pool({
    connectionString: tenant.config.CARREL_DATABASE_URL,
    max: 5,
  });
  const agent = new Agent({ connections: AT_ONCE });

  const owner = async (count: number): Promise<{ id: number; api: Api }> => {
    const { user, password } = await tenant.user();
    await fillWithFiles(stores, tenant, user.email, count);
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM users WHERE uuid = $1', [user.id]);
    return {
      id: Number(rows[0]?.id),
      api: await new Api(`http://127.0.0.1:${port}/api/v1`).login(user.email, password),
    };
  };
  const pages = (api: Api, cursor?: string) => (): Promise<number> =>
    perSecond(range(REQUESTS), AT_ONCE, async () => {
      const url = `${api.url}/files?limit=${LIMIT}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const reply = await request(url, {
        dispatcher: agent,
        headers: { authorization: `Bearer ${api.token}` },
      });
      const { byteLength } = await reply.body.arrayBuffer();
      if (reply.statusCode !== 200 || byteLength < LIMIT * 100) throw new Error(`${url} answered ${reply.statusCode}, ${byteLength} bytes`);
    });

  try {
    const few = await owner(1_000);
    const { sql, params } = fileList({ userId: few.id, files: [], folders: [], known: [] }, { limit: LIMIT }, ORDER);
    const select = (): Promise<number> =>
      perSecond(range(REQUESTS), AT_ONCE, async () => void JSON.stringify((await pool.query(sql, [...params])).rows));
    const list = await byTurns(pages(few.api), select);

    const many = await owner(MANY);
    const deep = await byTurns(pages(many.api, await cursorBefore(DEEP_PAGE, pool, many.id)), pages(many.api), { own: true });
    return [
      rateLine(`GET files, ${LIMIT} of 1,000`, list, 'the same SELECT by pg + JSON', 0.5),
      rateLine(`GET files, page ${DEEP_PAGE} of ${MANY} files`, deep, 'page 1', 0.8),
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), pool.end(), agent.close()]);
    await tenant.stop();
  }
}

/** What the page before this one ends with, without reading all before it. */
async function cursorBefore(number: number, pool: pg.Pool, userId: number): Promise<string | undefined> {
  const last = `SELECT id, updated_at AS "updatedAt" FROM files WHERE owner_id = $1 ORDER BY updated_at DESC, id DESC OFFSET $2 LIMIT 1`;
  const { rows } = await pool.query<FileRow>(last, [userId, (number - 1) * LIMIT - 1]);
  const { pagination } = page(
    { ...ORDER, limit: 1 },
    [...rows, ...rows],
    () => null,
    (row) => FILES.valuesOf(ORDER, row),
  );
  return pagination.next_cursor ?? undefined;
}
