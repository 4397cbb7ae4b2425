import { Redis } from 'ioredis';
import { Agent, request } from 'undici';
import { quoteIdentifier } from '../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { fileIds, fillWithFiles } from './filled.ts';
import { byTurns, type Line, perSecond, rateLine } from './measure.ts';
import { startProgram } from './program.ts';

/** Enough for a second, so that code that is not compiled yet does not decide the rate. */
const REQUESTS = 12_000;
const AT_ONCE = 16;
/** The number of files of all rounds, which request each file once. */
const COLD_FILES = 120_000;

/**
 * A file's metadata: cached, beside a bare Koa that fetches the same JSON from Redis; and not cached, beside one that selects a
 * row.
 */
export async function metadata(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const koa = await startProgram('control-server.ts', {
    REDIS_URL: stores.redis.adminUrl,
    DATABASE_URL: stores.postgres.superuser,
    FILES: `${quoteIdentifier(tenantRole(tenant.slug))}.files`,
  });
  const redis = new Redis(stores.redis.adminUrl);
  const agent = new Agent({ connections: AT_ONCE });
  try {
    const { email, password } = tenant.administrator;
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(email, password);
    const { body: file } = await api.upload('/files', {
      file: Buffer.from('a'),
      name: 'a',
    });
    await redis.set('bench', (await api.get(`/files/${file.id}`)).bytes);
    const get = (urls: readonly string[], headers: Record<string, string> = {}): Promise<number> =>
      perSecond(urls, AT_ONCE, async (url) => {
        const reply = await request(url, { dispatcher: agent, headers });
        await reply.body.dump();
        if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}`);
      });
    const headers = { authorization: `Bearer ${api.token}` };
    const same = (url: string): string[] => range(REQUESTS).map(() => url);
    const warm = await byTurns(
      () => get(same(`${api.url}/files/${file.id}`), headers),
      () => get(same(koa.url)),
    );

    await fillWithFiles(stores, tenant, email, [[1, COLD_FILES]]);
    const files = await fileIds(stores, tenant, email);
    const next = (): string[] => files.splice(0, REQUESTS / 2);
    const cold = await byTurns(
      () =>
        get(
          next().map((id) => `${api.url}/files/${id}`),
          headers,
        ),
      () => get(next().map((id) => `${koa.url}/files/${id}`)),
    );
    return [
      rateLine('GET file metadata, warm', warm, 'bare Koa + one Redis round trip', 0.5),
      rateLine('GET file metadata, cold', cold, 'bare Koa + one prepared SELECT', 0.4),
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), koa.stop(), redis.quit(), agent.close()]);
    await tenant.stop();
  }
}
