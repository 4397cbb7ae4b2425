import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { Api } from '../../support/clients/api.ts';
import { programEnvironment, ROOT } from '../../support/backends/backends.ts';
import { freePort } from '../../support/backends/ports.ts';
import { begin, checksum, named, offsetOf, send } from '../../support/clients/tus.ts';
import { waitFor } from '../../support/wait.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';
import { objectCount } from '../content/tenant-state.ts';

const { platform } = workerSuite();

test('a killed server’s upload is deleted by its sweep, and the next request gets the quota back', async () => {
  const tenant = await platform.tenant();
  const { api, user } = await tenant.user({ storage_quota: 20_000_000 });
  const { id } = (await begin(api, named('killed'))).body;
  const port = await freePort();
  const server = spawn(process.execPath, ['cmd/server/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...programEnvironment(), ...tenant.env, CARREL_PORT: String(port) },
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor('the server', async () => (await fetch(`${url}/api/v1/openapi.json`)).ok);
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.alloc(100_000);
  }
  const [there, body] = [new Api(`${url}/api/v1`, { token: api.token ?? '' }), Readable.from(endless(), { objectMode: false })];
  const broken = send(there, id, 0, body, { 'upload-checksum': checksum(Buffer.from('another')) }).catch((error: Error) => error);
  await waitFor('an object of it', async () => (await objectCount(tenant)) > 0);

  server.kill('SIGKILL');
  await broken;
  const offset = await offsetOf(api, id);
  const whole = await send(api, id, 0, Buffer.alloc(15_000_000), { 'upload-length': '15000000' });
  const [{ day } = { day: '' }] = await tenant.db.query<{ day: string }>(
    `SELECT payload->>'day' AS day FROM carrel.work WHERE kind = 'objects.sweep'`,
  );
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.sweep', payload: { day } }));

  expect([offset, whole.status]).toEqual([0, 204]);
  await waitFor('the sweep', async () => (await objectCount(tenant)) === 1);
  expect((await api.get(`/users/${user.id}`)).body.storage_used).toBe(15_000_000);
});
