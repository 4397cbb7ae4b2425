import pg from 'pg';
import { Agent, request } from 'undici';
import type { Statement } from '../../pkg/store/postgres/keyset.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { fillWithFiles, type Span } from './filled.ts';
import { byTurns, type Line, perSecond, progress, rateLine } from './measure.ts';

const REQUESTS = 500;
const AT_ONCE = 16;
const LIMIT = 100;
const MANY = 1_000_000;
/** `fillWithFiles` puts a tenth into each of ten folders. */
const IN_FOLDERS = 10_000;
const DEEP_PAGE = 5_000;
/** The last one of the page before the deep page, by age. */
const LAST_BEFORE = MANY - (DEEP_PAGE - 1) * LIMIT + 1;

/** Searched for: what all names of `fillWithFiles` have, and two characters that one in 34 has. */
const SEARCHES = ['txt', '12'];

/**
 * Pages a second: of few files, of a folder and of a search beside the SELECTs of all columns by node-postgres and
 * JSON.stringify; of a folder beside the list of few files; deep in many files beside the first page.
 */
export async function lists(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const pool = new pg.Pool({
    connectionString: tenant.config.CARREL_DATABASE_URL,
    max: 5,
  });
  const agent = new Agent({ connections: AT_ONCE });

  const owner = async (): Promise<{ id: number; email: string; api: Api }> => {
    const { user, password } = await tenant.user();
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM users WHERE uuid = $1', [user.id]);
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(user.email, password);
    return { id: Number(rows[0]?.id), email: user.email, api };
  };
  const fill = ({ email }: { email: string }, ...spans: Span[]): Promise<void> => fillWithFiles(stores, tenant, email, spans);
  const pages =
    (api: Api, path = '/files?') =>
    (): Promise<number> =>
      perSecond(range(REQUESTS), AT_ONCE, async () => {
        const url = `${api.url}${path}&limit=${LIMIT}`;
        const reply = await request(url, {
          dispatcher: agent,
          headers: { authorization: `Bearer ${api.token}` },
        });
        const { byteLength } = await reply.body.arrayBuffer();
        if (reply.statusCode !== 200 || byteLength < LIMIT * 100)
          throw new Error(`${url} answered ${reply.statusCode}, ${byteLength} bytes`);
      });

  try {
    const few = await owner();
    await fill(few, [1, 1_000]);
    const bare = (statements: readonly Statement[]) => (): Promise<number> =>
      perSecond(range(REQUESTS), AT_ONCE, async () => {
        const rows: unknown[] = [];
        for (const { sql, params } of statements) rows.push((await pool.query(sql, [...params])).rows);
        JSON.stringify(rows);
      });
    const list = await byTurns(pages(few.api), bare(await listOf(few.id)));

    const tidy = await owner();
    await fill(tidy, [1, IN_FOLDERS]);
    const folder = (await tidy.api.get('/folders', { query: { q: 'folder 1', limit: 1 } })).body.data[0].id as string;
    const inFolder = pages(tidy.api, `/folders/${folder}/children?`);
    const children = await byTurns(inFolder, bare(await childrenOf(pool, folder)));
    const besideList = await byTurns(inFolder, pages(few.api), { own: true });
    const searches: Line[] = [];
    for (const q of SEARCHES) {
      const measured = await byTurns(pages(tidy.api, `/search?q=${q}`), bare(await foundBy(pool, tidy.id, q)));
      searches.push(
        rateLine(`GET search for ${q}, ${LIMIT} of ${IN_FOLDERS} files`, measured, 'the SELECTs of all by pg + JSON', 0.5),
      );
    }

    const many = await owner();
    progress(`writing ${MANY} files`);
    // With two files the server returns the cursor that precedes the deep page among all files.
    await fill(many, [LAST_BEFORE - 1, LAST_BEFORE]);
    const cursor = (await many.api.get('/files', { query: { limit: 1 } })).body.pagination.next_cursor as string;
    await fill(many, [1, LAST_BEFORE - 2], [LAST_BEFORE + 1, MANY]);
    const deep = await byTurns(pages(many.api, `/files?cursor=${cursor}`), pages(many.api), { own: true });
    return [
      rateLine(`GET files, ${LIMIT} of 1,000`, list, 'the SELECT of all by pg + JSON', 0.5),
      rateLine(`GET children of a folder, ${LIMIT} of ${IN_FOLDERS / 10}`, children, 'the SELECTs of all by pg + JSON', 0.5),
      rateLine(`GET children of a folder, ${LIMIT} of ${IN_FOLDERS / 10}`, besideList, 'GET files', 1),
      ...searches,
      rateLine(`GET files, page ${DEEP_PAGE} of ${MANY} files`, deep, 'page 1', 0.8),
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), pool.end(), agent.close()]);
    await tenant.stop();
  }
}

/** Returns the statements of a first page. Loads them here, since another commit, which runs no controls, may lack them. */
async function listOf(userId: number): Promise<Statement[]> {
  const [{ pageRequest }, { FILES, fileList }] = [
    await import('../../pkg/api/paging.ts'),
    await import('../../pkg/content/lists/file-list.sql.ts'),
  ];
  return [fileList({ userId, files: [], folders: [], known: [] }, { limit: LIMIT }, pageRequest({ limit: LIMIT }, FILES.order))];
}

async function childrenOf(pool: pg.Pool, folder: string): Promise<Statement[]> {
  const { pageRequest } = await import('../../pkg/api/paging.ts');
  const { filesIn, folderAndFolders, FOLDERS } = await import('../../pkg/content/lists/folder-list.sql.ts');
  const request = pageRequest({ limit: LIMIT }, FOLDERS.order);
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM folders WHERE uuid = $1', [folder]);
  return [folderAndFolders(folder, undefined, request), filesIn({ folderId: Number(rows[0]?.id) }, undefined, request)];
}

async function foundBy(pool: pg.Pool, userId: number, q: string): Promise<Statement[]> {
  const { foundNames } = await import('../../pkg/content/search/search.sql.ts');
  const { OF_IDS } = await import('../../pkg/content/lists/file-list.sql.ts');
  const found = foundNames({ userId, files: [], folders: [] }, [q], { q, limit: LIMIT });
  const { rows } = await pool.query<{ found: string }>(found.sql, [...found.params]);
  const ids = rows[0]?.found.split('\n').map((line) => Number(line.slice(0, line.indexOf(' '))) / 2);
  return [found, { sql: OF_IDS.all, params: [ids?.slice(0, LIMIT)] }];
}
