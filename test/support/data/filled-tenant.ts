import { createHash } from 'node:crypto';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, tenantSealer } from '../../../pkg/runtime/sealing.ts';
import { sharedTables, tablesOf } from '../../../pkg/store/postgres/data-tables.ts';
import { quoteIdentifier, type SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import type { Objects } from '../../../pkg/store/s3/objects.ts';
import { WebhookSeal } from '../../../pkg/webhooks/sealing.ts';

export interface Filled {
  /** The keys of the objects, that of the first file first. */
  readonly keys: readonly string[];
  /** The webhook's secret. */
  readonly secret: string;
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/**
 * People, folders, files with objects, a webhook, a session, an event that is to be delivered and a job, written by the
 * operator's role.
 */
export async function fillTenant(
  to: { pool: SqlPool; slug: string; tenantId: string; objects: Objects },
  platformKeys: string,
): Promise<Filled> {
  const { pool, slug, tenantId, objects } = to;
  const role = tenantRole(slug);
  const contents = ['first', 'second', 'part of an upload', 'x'.repeat(100_000)].map((text) => Buffer.from(`${text} of ${slug}`));
  const keys = contents.map(() => newContentKey('20261123', random)).toSorted();
  for (const [index, content] of contents.entries())
    await objects.put(keys[index] ?? '', content, { contentLength: content.length });
  const secret = `whsec_${random.base64url(12)}`;
  const sealer = tenantSealer(parseSealingKeys(platformKeys), tenantId, random);
  await pool.transaction(async (tx) => {
    await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext`);
    const [user] = await tx.query<{ id: number; uuid: string }>(
      `INSERT INTO users (uuid, email, username, display_name, password_hash)
       VALUES (gen_random_uuid(), 'ada@example.org', 'ada', E'Ada \\t"L"\\\\\\n é', 'x') RETURNING id, uuid`,
    );
    const [parent] = await tx.query<{ id: number }>(
      `INSERT INTO folders (uuid, name, path, owner_id) VALUES (gen_random_uuid(), 'a', '/a', $1) RETURNING id`,
      [user?.id],
    );
    const [child] = await tx.query<{ id: number }>(
      `INSERT INTO folders (uuid, name, path, owner_id, parent_id) VALUES (gen_random_uuid(), 'b', '/a/b', $1, $2) RETURNING id`,
      [user?.id, parent?.id],
    );
    for (const [index, content] of contents.entries()) {
      if (index === 2) continue;
      await tx.query(
        `WITH file AS (
           INSERT INTO files (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id,
             blob_container, blob_name)
           VALUES (gen_random_uuid(), $1::text, '/a/b/' || $1::text, 'txt', 'text/plain', $2::bigint, $3::text, $4::bigint, $5,
             $6, $7::text) RETURNING id)
         INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by)
         SELECT id, 1, $2::bigint, $3::text, $7::text, $4::bigint FROM file`,
        [`file ${index}.txt`, content.length, sha256(content), user?.id, child?.id, objects.bucket, keys[index]],
      );
    }
    await tx.query(
      `WITH upload AS (
         INSERT INTO partial_uploads (uuid, user_id, length, received, metadata, expires_at)
         VALUES (gen_random_uuid(), $1, 1000, $2::bigint, '', now() + interval '1 day') RETURNING id)
       INSERT INTO partial_upload_segments (upload_id, number, key, size) SELECT id, 1, $3, $2::bigint FROM upload`,
      [user?.id, contents[2]?.length, keys[2]],
    );
    const [hook] = await tx.query<{ uuid: string }>('SELECT gen_random_uuid() AS uuid');
    const seal = new WebhookSeal({ sealer, tenantId });
    await tx.query(
      `INSERT INTO webhooks (uuid, url, events, secret) VALUES ($1, 'https://receiver.example/', '{file.created}', $2)`,
      [hook?.uuid, seal.seal(hook?.uuid ?? '', 'secret', secret)],
    );
    await tx.query(`INSERT INTO sessions (id, user_id, expires_at) VALUES (gen_random_uuid(), $1, now() + interval '1 day')`, [
      user?.id,
    ]);
    // Not due: no worker runs it meanwhile.
    await tx.query(
      `INSERT INTO carrel.work (tenant, kind, payload, due_at)
       VALUES ($1, 'objects.sweep', '{"day": "20261123"}', now() + interval '1 day')`,
      [role],
    );
    const [event] = await tx.query<{ id: number }>(
      `INSERT INTO carrel.events (tenant, uuid, event, payload) VALUES ($1, gen_random_uuid(), 'file.created', '{"a": "\\t"}')
       RETURNING id`,
      [role],
    );
    await tx.query(
      `INSERT INTO carrel.deliveries (tenant, event_id, endpoint, due_at) VALUES ($1, $2, $3, now() + interval '1 day')`,
      [role, event?.id, hook?.uuid],
    );
  });
  return { keys, secret };
}

/** All rows of a tenant, by table, those of the shared tables too. */
export async function rowsOfTenant(pool: SqlPool, slug: string): Promise<Record<string, unknown[]>> {
  const role = tenantRole(slug);
  const found: Record<string, unknown[]> = {};
  const read = async (table: string, where = ''): Promise<void> => {
    const rows = await pool.query<{ row: unknown }>(
      `SELECT to_jsonb(x) AS row FROM ${table} x ${where} ORDER BY to_jsonb(x)::text`,
    );
    found[table.replace(quoteIdentifier(role), 'tenant')] = rows.map(({ row }) => row);
  };
  for (const { name } of await tablesOf(pool, role)) await read(`${quoteIdentifier(role)}.${name}`);
  for (const { name } of await sharedTables(pool)) await read(`carrel.${name}`, `WHERE tenant = '${role}'`);
  return found;
}

/** The tables with the tenant's data of which Postgres knows neither how many rows there are nor what is in them. */
export async function unanalyzed(pool: SqlPool, slug: string): Promise<string[]> {
  const rows = await pool.query<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname <> 'schema_migrations' AND c.reltuples < 0 ORDER BY name`,
    [tenantRole(slug)],
  );
  return rows.map(({ name }) => name);
}

/** The webhook's secret, as the tenant of this id opens it. Throws SealError. */
export async function openedSecret(
  pool: SqlPool,
  slug: string,
  tenantId: string,
  platformKeys: string,
): Promise<string | undefined> {
  const sealer = tenantSealer(parseSealingKeys(platformKeys), tenantId, random);
  const [hook] = await pool.query<{ uuid: string; secret: string }>(
    `SELECT uuid, secret FROM ${quoteIdentifier(tenantRole(slug))}.webhooks ORDER BY id LIMIT 1`,
  );
  return hook && new WebhookSeal({ sealer, tenantId }).open(hook.uuid, 'secret', hook.secret);
}
