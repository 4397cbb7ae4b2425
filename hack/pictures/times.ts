import pg from 'pg';
import { postgresUrls } from '../../pkg/local/programs/postgres.ts';
import { existingStateDirectory } from '../../pkg/local/state-directory.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import { quoteIdentifier } from '../../pkg/store/postgres/quoting.ts';

/** Minutes of an age that a name always has: some hours to four weeks, most of them short. */
const AGE = `interval '1 minute' * (35 + power(('x' || substr(md5(name), 1, 6))::bit(24)::int / 16777216.0, 3) * 40000)::int`;

/**
 * Spreads the times of the sample tenant's files over four weeks. All of them are a minute old otherwise, which no list of files
 * that people have looks like.
 */
export async function spreadTimes(stateDirectory: string, slug: string): Promise<void> {
  const { superuser } = postgresUrls(existingStateDirectory(stateDirectory));
  const client = new pg.Client({ connectionString: superuser });
  await client.connect();
  try {
    await client.query(`SET search_path TO ${quoteIdentifier(tenantRole(slug))}`);
    await client.query('SET session_replication_role = replica'); // else a trigger sets updated_at
    for (const table of ['files', 'folders'])
      await client.query(`UPDATE ${table} SET created_at = now() - ${AGE} - interval '1 day', updated_at = now() - ${AGE}`);
    await client.query(`
      UPDATE file_versions v SET created_at = f.updated_at - interval '29 hours' * (f.version_number - v.version_number)
      FROM files f WHERE f.id = v.file_id`);
  } finally {
    await client.end();
  }
}
