import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { type Cluster, secretValues } from '../cluster/operator.ts';
import { waitFor } from '../wait.ts';

/**
 * Writes one row after the other, as the tenant's server does, with the address in its Secret. Counts the rows that were
 * acknowledged.
 */
export function writer(
  cluster: Cluster,
  { namespace, name: slug }: ObjectKey,
): { acknowledged: number; failed: number; end(): Promise<void> } {
  const state = { acknowledged: 0, failed: 0, isOver: false };
  const running = (async () => {
    while (!state.isOver) {
      const { url = '' } = (await secretValues(cluster, namespace, `${slug}-database`)) ?? {};
      const sql = new SqlPool({ url, poolSize: 1, log: silentLogger });
      // Some at a time, as a pod that is replaced.
      for (let count = 0; count < 20 && !state.isOver; count += 1) {
        const name = `acknowledged ${state.acknowledged}`;
        await sql
          .query(
            `INSERT INTO folders (uuid, name, path, owner_id) SELECT gen_random_uuid(), $1::text, '/' || $1::text, id FROM users
             WHERE username = 'ada'`,
            [name],
          )
          .then(
            () => (state.acknowledged += 1),
            () => (state.failed += 1),
          );
      }
      await sql.close();
    }
  })();
  return Object.assign(state, {
    end: async () => {
      state.isOver = true;
      await running;
    },
  });
}

/** Returns true when the tenant's server could write now. */
export async function writes(cluster: Cluster, tenant: ObjectKey): Promise<boolean> {
  const writing = writer(cluster, tenant);
  await waitFor('an answer', () => writing.acknowledged + writing.failed > 0);
  await writing.end();
  return writing.acknowledged > 0;
}
