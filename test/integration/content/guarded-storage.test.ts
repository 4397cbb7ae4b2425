import { expect, test } from '@jest/globals';
import { tenantStorage } from '../../../pkg/store/tenant-resources.ts';
import { guardedSockets } from '../../../pkg/net/guarded-sockets.ts';
import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { ownStores, serverSuite } from '../../support/suites/server-suite.ts';
import { operatorSide } from '../../support/backends/tenant.ts';

/** The store of these tests stands inside, as a tenant's must not. */
const running = ownStores();
const tenant = serverSuite({ stores: running });

test('a server dials no storage at a private address that its tenant named, unless the range is allowed', async () => {
  const { api } = await tenant.user();
  await tenant.restart({ CARREL_S3_GUARDED: true, CARREL_EGRESS_ALLOW: [] });
  const refused = await api.upload('/files', { file: Buffer.from('inside'), name: 'inside' });
  await tenant.restart({ CARREL_S3_GUARDED: true, CARREL_EGRESS_ALLOW: parseAllowedRanges('127.0.0.0/8') });
  const allowed = await api.upload('/files', { file: Buffer.from('inside'), name: 'inside' });

  expect([refused.status, allowed.status]).toEqual([503, 201]);
  expect((await api.get(`/files/${allowed.body.id}/download`)).status).toBe(200);
});

test('a worker dials no private address that a tenant named, and no storage whose owner the registry does not know', async () => {
  const { pool, registry } = await operatorSide(running);
  await pool.query(`INSERT INTO registry.shards (name) VALUES ('one') ON CONFLICT DO NOTHING`);
  const owner = { namespace: 'n', namespaceUid: 'u', name: 'n' };
  const codes: unknown[] = [];
  for (const [slug, guarded] of [
    ['named', { guarded: 'true' }],
    ['unknown', {}],
    ['platform', { guarded: 'false' }],
  ] as const) {
    const { tenantId } = await registry.claim({ slug, owner: { ...owner, name: slug }, hosts: [], shards: ['one'] });
    const { config } = tenant;
    const sealed = {
      endpoint: config.CARREL_S3_ENDPOINT,
      region: config.CARREL_S3_REGION,
      bucket: config.CARREL_S3_BUCKET,
      accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
      secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
      ...guarded,
    };
    await registry.setSecret(tenantId, 'storage', JSON.stringify(sealed));
    const { objects } = await tenantStorage({ registry, pool, clock, connect: guardedSockets({ allow: [], clock }) }).of(slug);
    codes.push(
      await objects.ping().then(
        () => 'reached',
        (error: Error) => (error.cause as { code?: unknown }).code,
      ),
    );
    objects.close();
  }

  expect(codes).toEqual(['address_refused', 'address_refused', 'reached']);
  await pool.close();
});
