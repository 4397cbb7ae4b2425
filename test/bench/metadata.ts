import { Redis } from 'ioredis';
import { Agent, request } from 'undici';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/api.ts';
import { freePort } from '../support/ports.ts';
import { startTenant } from '../support/server.ts';
import type { TestStores } from '../support/stores.ts';
import { range } from '../support/wait.ts';
import { byTurns, type Line, perSecond, rateLine } from './measure.ts';
import { startProgram } from './program.ts';

const REQUESTS = 3_000;
const AT_ONCE = 16;

/** A file's metadata that caches hold, beside a bare Koa that fetches the same JSON from Redis. */
export async function metadata(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const koa = await startProgram('control-server.ts', { REDIS_URL: stores.redis.adminUrl, DATABASE_URL: stores.postgres.superuser });
  const redis = new Redis(stores.redis.adminUrl);
  try {
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(tenant.administrator.email, tenant.administrator.password);
    const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
    await redis.set('bench', (await api.get(`/files/${file.id}`)).bytes);
    const agent = new Agent({ connections: AT_ONCE });
    const get = (url: string, headers: Record<string, string>) => (): Promise<number> =>
      perSecond(range(REQUESTS), AT_ONCE, async () => {
        const reply = await request(url, { dispatcher: agent, headers });
        await reply.body.dump();
        if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}`);
      });
    const measured = await byTurns(get(`${api.url}/files/${file.id}`, { authorization: `Bearer ${api.token}` }), get(koa.url, {}));
    return [rateLine('GET file metadata, warm', measured, 'bare Koa + one Redis round trip', 0.5)];
  } finally {
    await Promise.all([server.end('SIGTERM'), koa.stop(), redis.quit()]);
    await tenant.stop();
  }
}
