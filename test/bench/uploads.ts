import { PutObjectCommand } from '@aws-sdk/client-s3';
import pg from 'pg';
import { Agent, request } from 'undici';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { byTurns, type Line, perSecond, rateLine } from './measure.ts';
import { storeOf } from './transfers.ts';

const UPLOADS = 800;
const AT_ONCE = 16;
const BYTES = 4096;
const LEAST = 0.5;
const INSERT = 'INSERT INTO bench_uploads (name) VALUES ($1)';
const BOUNDARY = 'carrel-bench-boundary';

/** Files of 4 KiB a second, all of one person or of sixteen, beside an SDK PutObject of the same bytes and one commit each. */
export async function uploads(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const { client, Bucket } = storeOf(tenant);
  const pool = new pg.Pool({ connectionString: stores.postgres.superuser, max: 5 });
  await pool.query('CREATE TABLE bench_uploads (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE)');
  const people = await Promise.all(range(AT_ONCE).map(() => tenant.user()));
  const server = await startServerProcess(tenant, port);
  const agent = new Agent({ connections: AT_ONCE });
  const api = new Api(`http://127.0.0.1:${port}/api/v1`);
  const signedIn = await Promise.all(people.map(({ user, password }) => api.login(user.email, password)));
  const tokens = signedIn.map(({ token }) => token ?? '');
  const file = Buffer.alloc(BYTES, 'carrel');
  let made = 0;
  const upload = (tokenOf: (at: number) => string) => (): Promise<number> =>
    perSecond(range(UPLOADS), AT_ONCE, async (at) => {
      const headers = { authorization: `Bearer ${tokenOf(at)}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      const reply = await request(`${api.url}/files`, {
        method: 'POST',
        dispatcher: agent,
        headers,
        body: form(`file-${(made += 1)}.txt`, file),
      });
      const text = await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`the upload was answered ${reply.statusCode}: ${text}`);
    });
  const control = (): Promise<number> =>
    perSecond(range(UPLOADS), AT_ONCE, async () => {
      const name = `bench-${(made += 1)}`;
      await client.send(new PutObjectCommand({ Bucket, Key: name, Body: file, ContentType: 'text/plain' }));
      await pool.query(INSERT, [name]);
    });
  try {
    const ofOne = await byTurns(
      upload(() => tokens[0] ?? ''),
      control,
    );
    const ofMany = await byTurns(
      upload((at) => tokens[at % AT_ONCE] ?? ''),
      control,
    );
    return [
      rateLine('upload 4 KiB, one person', ofOne, 'SDK PutObject + one commit', LEAST),
      rateLine(`upload 4 KiB, ${AT_ONCE} people`, ofMany, 'SDK PutObject + one commit', LEAST),
    ];
  } finally {
    await Promise.all([server.end('SIGTERM'), pool.end(), agent.close()]);
    client.destroy();
    await tenant.stop();
  }
}

const form = (name: string, file: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`,
    ),
    file,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
