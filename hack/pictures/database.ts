import pg from 'pg';
import { postgresUrls } from '../../pkg/local/programs/postgres.ts';
import { existingStateDirectory } from '../../pkg/local/state-directory.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import { quoteIdentifier } from '../../pkg/store/postgres/quoting.ts';

/** Runs statements in the schema of a tenant. No trigger of its tables fires. */
export async function asSuperuser(stateDirectory: string, slug: string, run: (sql: pg.Client) => Promise<void>): Promise<void> {
  const { superuser } = postgresUrls(existingStateDirectory(stateDirectory));
  const client = new pg.Client({ connectionString: superuser });
  await client.connect();
  try {
    await client.query(`SET search_path TO ${quoteIdentifier(tenantRole(slug))}`);
    await client.query('SET session_replication_role = replica');
    await run(client);
  } finally {
    await client.end();
  }
}
