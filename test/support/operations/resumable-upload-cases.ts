import { byBob, NOBODY, type Cases, type Request } from './case.ts';
import type { World } from './world.ts';

/** A file of five bytes, by tus; `more`: of its metadata. */
export const tus = (
  name: string,
  more: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Request => ({
  headers: { ...TUS, 'upload-length': '5', 'upload-metadata': metadata({ filename: name, ...more }), ...headers },
  bytes: { type: CHUNK, text: 'Hello' },
});
export const TUS = { 'tus-resumable': '1.0.0' };
export const CHUNK = 'application/offset+octet-stream';
export const WRONG_CHECKSUM = { 'upload-checksum': `sha256 ${Buffer.alloc(32).toString('base64')}` };
const metadata = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

/** An upload of five bytes of which none has come. */
async function begun(w: World, by = w.ada.api, name = w.name(), more: Readonly<Record<string, string>> = {}): Promise<Request> {
  const { headers } = tus(name, more);
  const { status, body } = await by.raw('POST', '/files/uploads', { headers: headers ?? {} });
  if (status !== 201) throw new Error(`an upload could not begin: ${status} ${JSON.stringify(body)}`);
  return { by, params: { id: body.id }, headers: TUS };
}
export const continued = (request: Request, headers: Readonly<Record<string, string>> = {}): Request => ({
  ...request,
  headers: { ...TUS, 'upload-offset': '0', ...headers },
  bytes: { type: CHUNK, text: 'Hello' },
});
async function expired(w: World): Promise<Request> {
  const request = await begun(w);
  await w.tenant.db.query(`UPDATE partial_uploads SET expires_at = now() - interval '1 s' WHERE uuid = $1`, [request.params?.id]);
  return request;
}
export const withoutVersion = async (request: Promise<Request>): Promise<Request> => {
  const { headers: { 'tus-resumable': _, ...headers } = {}, ...rest } = await request;
  return { ...rest, headers };
};

/** Uploads in parts, by tus. */
export const RESUMABLE_UPLOAD_CASES: Readonly<Record<string, Cases>> = {
  createUpload: {
    success: (w) => tus(w.name()),
    stranger: 'same',
    errors: {
      forbidden: async (w) => byBob(w, tus(w.name(), { folder_id: (await w.shared('folder')).id })),
      not_found: (w) => tus(w.name(), { folder_id: NOBODY }),
      name_conflict: async (w) => tus((await w.file()).name),
      quota_exceeded: async (w) => ({ by: (await w.person(['member'], 4)).api, ...tus(w.name()) }),
      tus_version_unsupported: (w) => withoutVersion(Promise.resolve(tus(w.name()))),
      checksum_mismatch: (w) => tus(w.name(), {}, WRONG_CHECKSUM),
    },
  },
  getUpload: {
    success: (w) => begun(w),
    errors: { upload_expired: expired, tus_version_unsupported: (w) => withoutVersion(begun(w)) },
  },
  continueUpload: {
    success: async (w) => continued(await begun(w)),
    errors: {
      name_conflict: async (w) => continued(await begun(w, w.ada.api, (await w.file()).name)),
      conflict: async (w) => continued(await begun(w), { 'upload-offset': '3' }),
      upload_expired: async (w) => continued(await expired(w)),
      quota_exceeded: async (w) => {
        const { api, user } = await w.person(['member'], 5);
        const request = await begun(w, api);
        await w.tenant.db.query('UPDATE users SET storage_quota = 1 WHERE uuid = $1', [user.id]);
        return continued(request);
      },
      tus_version_unsupported: async (w) => withoutVersion(Promise.resolve(continued(await begun(w)))),
      checksum_mismatch: async (w) => continued(await begun(w), WRONG_CHECKSUM),
    },
  },
  deleteUpload: {
    success: (w) => begun(w),
    errors: { upload_expired: expired, tus_version_unsupported: (w) => withoutVersion(begun(w)) },
  },
};
