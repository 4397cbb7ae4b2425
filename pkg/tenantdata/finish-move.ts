import { deleteShared, sharedTables } from '../store/postgres/data-tables.ts';
import { endMove } from '../store/postgres/moves.ts';
import { quoteIdentifier, type SqlPool } from '../store/postgres/pool.ts';
import { dropTenant, releaseJobs, type ShardAccess, tenantRole } from '../store/postgres/provisioning.ts';
import { addShared, type LoadedTable } from './load-tables.ts';
import { sharedRows } from './snapshot.ts';

/** The registry names a shard that does not have the tenant's rows. */
export class RowsMissing extends Error {
  override readonly name = 'RowsMissing';
}

interface FinishOptions {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  readonly registry: SqlPool;
  /** The former shard. */
  readonly from: ShardAccess;
  readonly to: ShardAccess;
}

/**
 * Removes what a move has left on the former shard, once the registry says that the tenant is on the other one, and releases its
 * jobs there. Rows inserted into the shared tables during the copy follow. Each step may be repeated. Throws RowsMissing.
 */
export async function finishMove({ slug, tenantId, registry, from, to }: FinishOptions): Promise<void> {
  const role = tenantRole(slug);
  const [copy] = await to.pool.query<{ isThere: boolean }>(`SELECT to_regclass($1) IS NOT NULL AS "isThere"`, [
    `${quoteIdentifier(role)}.files`,
  ]);
  if (!copy?.isThere)
    throw new RowsMissing(
      `the registry says that ${slug} has moved, but its rows are not on that shard; nothing was removed from the former one`,
    );
  await moveRest(from.pool, to.pool, slug);
  // A reader there, such as a backup, may take long. The tenant continues meanwhile, and the operator tries again.
  await dropTenant(from, slug, { tenantId, attempts: 1 });
  await releaseJobs(to.pool, role);
  await endMove(registry, tenantId);
}

/** Deletes rows only once they are on the other shard. After a crash they are copied a second time and recognised there. */
async function moveRest(from: SqlPool, to: SqlPool, slug: string): Promise<void> {
  const role = tenantRole(slug);
  await from.copying(async (source) => {
    const tables = await sharedTables(source);
    const left: LoadedTable[] = [];
    for (const table of tables) {
      const rows = await source.query(`SELECT FROM carrel.${quoteIdentifier(table.name)} WHERE tenant = $1 FOR UPDATE`, [role]);
      if (rows.length === 0) continue;
      const rowsOf = async () => (await source.copyOut(`COPY (${sharedRows(table, role)}) TO STDOUT`)) as AsyncIterable<Buffer>;
      left.push({ name: table.name, columns: [...table.columns], rowsOf });
    }
    if (left.length > 0) await to.copying((target) => addShared(target, slug, left));
    await deleteShared(source, role);
  });
}
