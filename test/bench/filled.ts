import pg from 'pg';
import { quoteIdentifier } from '../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../pkg/store/postgres/provisioning.ts';
import type { TestTenant } from '../support/programs/server.ts';
import type { StoreAddresses } from '../../pkg/local/platform.ts';

const FOLDERS = `
  INSERT INTO folders (uuid, name, path, owner_id)
  SELECT gen_random_uuid(), 'folder ' || n, '/folder ' || n, u.id FROM users u, generate_series(0, 9) n WHERE u.email = $1
  ON CONFLICT DO NOTHING`;

const FILES = `
  INSERT INTO files (uuid, name, path, mime_type, size, checksum, owner_id, folder_id, blob_name, created_at, updated_at)
  SELECT gen_random_uuid(), n || '.txt', d.path || '/' || n || '.txt', 'text/plain', n, repeat('0', 64), d.owner_id, d.id,
    'bench/' || n, t.at, t.at
  FROM unnest($2::int[], $3::int[]) AS span (first, last), generate_series(span.first, span.last) n
    JOIN folders d ON d.name = 'folder ' || n % 10 JOIN users u ON u.id = d.owner_id AND u.email = $1,
    LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 second' AS at) t`;

/** Indexes that no constraint needs. */
const INDEXES = `
  SELECT i.indexrelid::regclass AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
  WHERE i.indrelid = 'files'::regclass AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`;

/** From this many rows on, building the indexes again costs less than adding to them. */
const MANY = 100_000;

/** The first and the last number of some files. */
export type Span = readonly [first: number, last: number];

/**
 * Gives a user files without content: `<number>.txt`, a tenth of them in each of ten folders, each changed a second after the one
 * before. Of many files the foreign keys are not checked, so nothing else may use the table meanwhile.
 */
export async function fillWithFiles(
  stores: StoreAddresses,
  tenant: TestTenant,
  email: string,
  spans: readonly Span[],
): Promise<void> {
  await inSchema(stores, tenant, async (client) => {
    await client.query(FOLDERS, [email]);
    const insert = (): Promise<unknown> =>
      client.query(FILES, [email, spans.map(([first]) => first), spans.map(([, last]) => last)]);
    const count = spans.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    if (count < MANY) await insert();
    else await withoutIndexes(client, insert);
    await client.query('VACUUM ANALYZE files, folders, users');
  });
}

/** The uuids of a user's files. */
export async function fileIds(stores: StoreAddresses, tenant: TestTenant, email: string): Promise<string[]> {
  return inSchema(stores, tenant, async (client) => {
    const { rows } = await client.query<{ uuid: string }>(
      'SELECT f.uuid FROM files f JOIN users u ON u.id = f.owner_id AND u.email = $1',
      [email],
    );
    return rows.map(({ uuid }) => uuid);
  });
}

async function inSchema<T>(stores: StoreAddresses, { slug }: TestTenant, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: stores.postgres.superuser });
  await client.connect();
  try {
    await client.query(`SET search_path TO ${quoteIdentifier(tenantRole(slug))}`);
    return await use(client);
  } finally {
    await client.end();
  }
}

async function withoutIndexes(client: pg.Client, insert: () => Promise<unknown>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(INDEXES);
  await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '512MB'`);
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  await insert();
  for (const { definition } of rows) await client.query(definition);
}
