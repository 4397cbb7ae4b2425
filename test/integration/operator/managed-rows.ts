import type { KubeObject, ObjectKey } from '../../../pkg/kube/object.ts';
import type { ResourceApi } from '../../../pkg/kube/resource.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer, tenantDataKey } from '../../../pkg/runtime/sealing.ts';
import type { Sql } from '../../../pkg/store/postgres/pool.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { waitFor } from '../../support/wait.ts';

/** The spec of a Webhook, but for its tenant. */
export const hook = { url: 'https://example.com/hook', events: ['file.created', 'user.updated'] };

/** Returns the sealer of the values in a tenant's rows. */
export const sealerOf = (tenantId: string): Sealer =>
  new Sealer(
    parseSealingKeys(testBackends().stores.platformKeys).map((key) => tenantDataKey(key, tenantId)),
    systemRandom,
  );

export const goneOf = <T extends KubeObject>(api: ResourceApi<T>, key: ObjectKey): Promise<unknown> =>
  waitFor(`${key.name} to be gone`, async () => (await api.find(key)) === undefined);

/** Returns the row that a resource manages. */
export const rowOf = async (sql: Sql, table: string, reference: string): Promise<Record<string, unknown> | undefined> =>
  (await sql.query(`SELECT * FROM ${table} WHERE managed_ref = $1`, [reference]))[0];
