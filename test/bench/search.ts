import pg from 'pg';
import { Agent, request } from 'undici';
import { foundNames } from '../../pkg/content/search/search.sql.ts';
import { wordsOf } from '../../pkg/content/search/words.policy.ts';
import { percentile } from '../faults/latency.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { fillWithFiles } from './filled.ts';
import { byTurns, type Line, perSecond, progress, rateLine } from './measure.ts';

const REQUESTS = 200;
const AT_ONCE = 4;
const LIMIT = 50;
const FILES = 1_000_000;
const P95_MS = 50;

/**
 * Searches a second among a million names: of a word that all have, and of one that few have, beside the statement that finds
 * them.
 */
export async function search(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const pool = new pg.Pool({ connectionString: tenant.config.CARREL_DATABASE_URL, max: AT_ONCE });
  const agent = new Agent({ connections: AT_ONCE });
  try {
    const { user, password } = await tenant.user();
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM users WHERE uuid = $1', [user.id]);
    const searcher = { userId: Number(rows[0]?.id), files: [], folders: [] };
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(user.email, password);
    progress(`writing ${FILES} files`);
    await fillWithFiles(stores, tenant, user.email, [[1, FILES]]);

    const took: number[] = [];
    const ours = (queries: readonly string[]) => (): Promise<number> =>
      perSecond(queries, AT_ONCE, async (q) => {
        const started = performance.now();
        const reply = await request(`${api.url}/search?q=${encodeURIComponent(q)}&limit=${LIMIT}`, {
          dispatcher: agent,
          headers: { authorization: `Bearer ${api.token}` },
        });
        const { data } = (await reply.body.json()) as { data: unknown[] };
        if (reply.statusCode !== 200 || data.length === 0) throw new Error(`the search for ${q} answered ${reply.statusCode}`);
        took.push(performance.now() - started);
      });
    const bare = (queries: readonly string[]) => (): Promise<number> =>
      perSecond(queries, AT_ONCE, async (q) => {
        const { sql, params } = foundNames(searcher, wordsOf(q), { q, limit: LIMIT });
        await pool.query(sql, [...params]);
      });
    const common = range(REQUESTS).map(() => 'txt');
    const rare = range(REQUESTS).map((n) => String(123_457 + n * 3_001));
    const [ofMany, ofFew] = [await byTurns(ours(common), bare(common)), await byTurns(ours(rare), bare(rare))];
    const p95 = percentile(took, 95);
    return [
      rateLine(`GET search, a word of all ${FILES} names`, ofMany, 'the bare statement', 0.5),
      rateLine(`GET search, a word of few of ${FILES} names`, ofFew, 'the bare statement', 0.5),
      {
        what: `GET search, ${AT_ONCE} at once, p95`,
        ours: `${p95.toFixed(1)} ms`,
        control: '–',
        target: `< ${P95_MS} ms`,
        met: p95 < P95_MS,
      },
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), pool.end(), agent.close()]);
    await tenant.stop();
  }
}
