import { execFileSync } from 'node:child_process';
import { ListMultipartUploadsCommand, ListPartsCommand } from '@aws-sdk/client-s3';
import { expect } from '@jest/globals';
import { newClient } from '../../../pkg/store/s3/objects.ts';
import type { Api } from './api.ts';
import type { TestTenant } from '../programs/server.ts';
import { waitFor } from '../wait.ts';

export const MIB = 1 << 20;

export const newFolder = async (api: Api, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
export const newFile = async (api: Api, folder_id: string, name: string, content: string | Buffer = name): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(content), fields: { folder_id } })).body.id;
export const requestExport = async (api: Api, body: object) => {
  const reply = await api.post('/exports', body);
  expect([reply.status, reply.body.kind, reply.body.result]).toEqual([202, 'export', null]);
  return reply.body;
};
/** A job once it has ended. */
export const endOf = (api: Api, id: string, limitMs?: number) =>
  waitFor(
    'the end of the job',
    async () => {
      const { body } = await api.get(`/jobs/${id}`);
      return body.ended_at === null ? undefined : body;
    },
    limitMs,
  );
export const exported = async (api: Api, body: object, limitMs?: number) =>
  endOf(api, (await requestExport(api, body)).id, limitMs);
export const itemsOf = async (api: Api, id: string) =>
  (await api.get(`/jobs/${id}/items`)).body.data.map(
    ({ target, state, error }: { target: { name: string | null }; state: string; error: { code: string } | null }) => [
      target.name,
      state,
      error?.code ?? null,
    ],
  );

/** The contents of an archive's files by their paths, as Python reads them; null for folders. */
export function unzipped(archive: Buffer): Record<string, string | null> {
  const script = `import io, json, sys, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); assert z.testzip() is None
print(json.dumps({i.filename: None if i.is_dir() else z.read(i).decode()[:100] for i in z.infolist()}))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: archive, encoding: 'utf8', maxBuffer: 64 * MIB })) as Record<
    string,
    string | null
  >;
}

/** Further files in a folder with the content of one, `count` of them, without the work of uploading. */
export async function multiply({ db }: TestTenant, id: string, count: number): Promise<void> {
  // A statement of a tenant may take 8 s.
  for (let from = 1; from <= count; from += 250)
    await db.query(
      `WITH source AS (SELECT f.*, v.crc32 FROM files f JOIN file_versions v ON v.file_id = f.id WHERE f.uuid = $1), made AS (
       INSERT INTO files (uuid, name, path, size, checksum, owner_id, folder_id, blob_container, blob_name)
       SELECT gen_random_uuid(), s.name || ' ' || n, s.path || ' ' || n, s.size, s.checksum, s.owner_id, s.folder_id,
         s.blob_container, s.blob_name
       FROM source s, generate_series($2::int, $3::int) n RETURNING id, size, checksum, blob_name, owner_id
     )
     INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, crc32)
     SELECT m.id, 1, m.size, m.checksum, m.blob_name, m.owner_id, s.crc32 FROM made m, source s`,
      [id, from, Math.min(count, from + 249)],
    );
}

/** An export in the database, while it is made. */
export interface UploadRow {
  readonly key: string;
  readonly uploadId: string;
  /** Parts that it counts. */
  readonly parts: number;
}

export const uploadOf = async ({ db }: TestTenant, id: string): Promise<UploadRow | undefined> =>
  (
    await db.query<UploadRow>(
      'SELECT key, upload_id AS "uploadId", cardinality(etags) AS parts FROM export_uploads WHERE task = $1',
      [id],
    )
  )[0];

/** Reads the multipart uploads of a tenant's store. */
export function multipartUploads({ config }: TestTenant) {
  const client = newClient({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
  });
  const Bucket = config.CARREL_S3_BUCKET;
  return {
    count: async (): Promise<number> => (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.length ?? 0,
    partsOf: async ({ key, uploadId }: UploadRow): Promise<number> =>
      (await client.send(new ListPartsCommand({ Bucket, Key: key, UploadId: uploadId }))).Parts?.length ?? 0,
    close: () => client.destroy(),
  };
}
