import pg from 'pg';
import { quoteIdentifier } from '../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import type { TestTenant } from '../support/server.ts';
import type { TestStores } from '../support/stores.ts';

const FOLDERS = `
  INSERT INTO folders (uuid, name, path, owner_id)
  SELECT gen_random_uuid(), 'folder ' || n, '/folder ' || n, u.id FROM users u, generate_series(0, 9) n WHERE u.email = $1
  ON CONFLICT DO NOTHING`;

const FILES = `
  INSERT INTO files (uuid, name, path, mime_type, size, checksum, owner_id, folder_id, blob_name, created_at, updated_at)
  SELECT gen_random_uuid(), n || '.txt', d.path || '/' || n || '.txt', 'text/plain', n, repeat('0', 64), d.owner_id, d.id, 'bench/' || n, t.at, t.at
  FROM generate_series(1, $2::int) n JOIN folders d ON d.name = 'folder ' || n % 10 JOIN users u ON u.id = d.owner_id AND u.email = $1,
    LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 second' AS at) t
  RETURNING uuid`;

/** Gives a user so many files without content, a tenth of them in each of ten folders, each changed a second after the one before. Their uuids. */
export async function fillWithFiles(stores: TestStores, tenant: TestTenant, email: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: stores.postgres.superuser });
  await client.connect();
  try {
    await client.query(`SET search_path TO ${quoteIdentifier(tenantRole(tenant.slug))}`);
    await client.query(FOLDERS, [email]);
    const { rows } = await client.query<{ uuid: string }>(FILES, [email, count]);
    await client.query('VACUUM ANALYZE files');
    return rows.map(({ uuid }) => uuid);
  } finally {
    await client.end();
  }
}
