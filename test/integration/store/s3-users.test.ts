import { Agent, request } from 'node:http';
import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { sign } from '../../../pkg/store/s3/signature.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const running = ownStores();
/** Sends the requests of all tenants over one connection, as a proxy does. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
atEnd(() => agent.destroy());

/** The status of a request for the bucket with its key. */
const ask = ({ bucket, ...key }: TenantBucket): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { endpoint, region } = running.s3;
    const url = new URL(`/${bucket}`, endpoint);
    const headers = sign({ method: 'HEAD', url, headers: {}, body: '' }, { ...key, region }, new Date());
    request(url, { method: 'HEAD', agent, headers }, (reply) => reply.resume().on('end', () => resolve(reply.statusCode)))
      .on('error', reject)
      .end();
  });

test('a store that looks its users up again takes none for another one, whoever came by the same connection before', async () => {
  const tenants = range(20).map((): TenantBucket => {
    const bucket = bucketName(`t-${systemRandom.hex(5)}`);
    return { bucket, accessKeyId: bucket, secretAccessKey: systemRandom.base64url(24) };
  });
  const admin = new StorageAdmin(running.s3);
  for (const tenant of tenants) await admin.ensureBucketWithUser(tenant);
  // The store forgets its cached users, as it does two minutes after they were made.
  await running.kill('versitygw');
  await waitFor('the store', async () => admin.ensureBucketWithUser(tenants[0] as TenantBucket));
  admin.close();

  const statuses: unknown[] = [];
  for (const tenant of range(3).flatMap(() => tenants)) statuses.push(await ask(tenant));

  expect(statuses).toEqual(range(60).map(() => 200));
});
