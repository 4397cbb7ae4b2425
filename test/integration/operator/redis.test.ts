import { afterAll, expect, test } from '@jest/globals';
import { TenantRedis } from '../../../pkg/operator/tenant/redis/redis-users.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { RedisUsers } from '../../../pkg/store/redis/acl.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { unique } from '../../support/cluster/operator.ts';

const url = testBackends().stores.redis.adminUrl;
const operator = new TenantRedis({ url, log: silentLogger });
const other = new RedisUsers({ url, log: silentLogger });

afterAll(() => Promise.all([operator.close(), other.close()]));

test('an operator that leads again makes the user that another removed meanwhile', async () => {
  const tenant = { slug: unique(), passwords: [unique()] };
  await operator.ensure(tenant.slug, tenant.passwords);
  await other.remove(tenant.slug);

  operator.resync(); // as `Operator.lead` does
  await operator.ensure(tenant.slug, tenant.passwords);

  expect(await other.ensure(tenant)).toEqual({ changed: false });
  await operator.remove(tenant.slug);
});
