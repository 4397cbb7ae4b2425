import { expect, test } from '@jest/globals';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { findSettings, type SettingsRow, writeLinkPolicy } from '../../../pkg/settings/settings.sql.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ready } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { waitFor } from '../../support/wait.ts';

const suite = operatorSuite();

/** Calls `work` with the settings as the tenant's server reads them, by its role. */
async function withSettings(
  key: ObjectKey,
  work: (settings: () => Promise<SettingsRow | undefined>, sql: SqlPool) => Promise<void>,
): Promise<void> {
  const sql = new SqlPool({ url: await suite.databaseUrl(key), poolSize: 1, log: silentLogger });
  try {
    await work(() => findSettings(sql), sql);
  } finally {
    await sql.close();
  }
}

test('spec.shareLinks becomes the managed policy with defaults, follows the resource and stays when it goes', async () => {
  const { cluster } = suite;
  const key = await suite.readyTenant({ shareLinks: { maxDays: 30 } });

  await withSettings(key, async (settings) => {
    const managed = { enabled: true, passwordRequired: false, maxDays: 30, folderUploads: true, managedBy: 'kubernetes' };
    expect(await settings()).toMatchObject(managed);

    await cluster.tenants.patch(key, { spec: { shareLinks: { maxDays: null, passwordRequired: true, folderUploads: false } } });
    await waitFor('the other policy', async () => (await settings())?.passwordRequired === true);
    const changed = { ...managed, maxDays: null, passwordRequired: true, folderUploads: false };
    expect(await settings()).toMatchObject(changed);

    await cluster.tenants.patch(key, { spec: { shareLinks: null } });
    await waitFor('the policy to be the administrators’', async () => (await settings())?.managedBy === null);
    expect(await settings()).toMatchObject({ ...changed, managedBy: null });
  });
});

test('a policy that administrators set stays while the resource names none, and gives way when it names one', async () => {
  const { cluster } = suite;
  const key = await suite.readyTenant();

  await withSettings(key, async (settings, sql) => {
    expect(await settings()).toBeUndefined();
    const own = { enabled: false, passwordRequired: true, maxDays: 3, folderUploads: false };
    await sql.query('INSERT INTO settings DEFAULT VALUES');
    await writeLinkPolicy(sql, own, null);

    await cluster.tenants.patch(key, { spec: { displayName: 'Biology' } });
    await ready(cluster.tenants, key);
    expect(await settings()).toMatchObject({ ...own, managedBy: null });

    await cluster.tenants.patch(key, { spec: { shareLinks: {} } });
    await waitFor('the policy of the resource', async () => (await settings())?.managedBy === 'kubernetes');
    expect(await settings()).toMatchObject({ enabled: true, passwordRequired: false, maxDays: null, folderUploads: true });
  });
});
