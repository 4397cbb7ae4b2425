import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { TestTenant } from '../programs/server.ts';

/**
 * Runs `work` while no row of a tenant's table becomes so: the changes that would make it so wait. `row` is a condition on NEW,
 * the row as it would become. What `work` requests comes up to there and no further, however late `work` looks. A job whose
 * change waits longer than the lock time-out of its role fails, and comes again.
 */
export async function whileHeld<T>(
  { rows: { slug, pool } }: Pick<TestTenant, 'rows'>,
  { table, row }: { readonly table: string; readonly row: string },
  work: () => Promise<T>,
): Promise<T> {
  const schema = `"${tenantRole(slug)}"`;
  // A change takes the lock of an empty table first. All of this stays; without another holder of the lock everything passes.
  await pool.query(`CREATE TABLE IF NOT EXISTS ${schema}.held_by_test ()`);
  await pool.query(
    `CREATE OR REPLACE FUNCTION ${schema}.wait_for_test() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
       $$ BEGIN LOCK TABLE ${schema}.held_by_test IN ACCESS SHARE MODE; RETURN NEW; END $$`,
  );
  await pool.query(
    `CREATE OR REPLACE TRIGGER wait_for_test BEFORE UPDATE ON ${schema}.${table} FOR EACH ROW WHEN (${row})
     EXECUTE FUNCTION ${schema}.wait_for_test()`,
  );
  return pool.transaction(async (tx) => {
    await tx.query(`LOCK TABLE ${schema}.held_by_test IN ACCESS EXCLUSIVE MODE`);
    return work();
  });
}
