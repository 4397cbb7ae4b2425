import type { Cases, Make, Request } from './case.ts';
import { continued, tus, TUS, withoutVersion, WRONG_CHECKSUM } from './resumable-upload-cases.ts';
import { guess } from './sharing-cases.ts';
import type { World } from './world.ts';

const PASSWORD = 'correct horse battery';
const SENDER = { uploaded_by: 'Grace' };

/** A new upload by the link of a folder. */
const created = (w: World, token: string, headers: Readonly<Record<string, string>> = {}): Request => ({
  by: w.tenant.anonymous,
  params: { token },
  ...tus(w.name(), SENDER, headers),
});
const link = async (w: World, terms: object = {}): Promise<string> => (await w.folderLink({ mode: 'upload', ...terms })).token;

/** An upload of five bytes by a link, of which none has come; of a link with the password, in a session. */
async function begun(w: World, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Request> {
  const { headers: sent } = tus(w.name(), SENDER, headers);
  const { status, body } = await w.tenant.anonymous.raw('POST', `/s/${token}/uploads`, { headers: sent ?? {} });
  if (status !== 201) throw new Error(`an upload could not begin: ${status} ${JSON.stringify(body)}`);
  return { by: w.tenant.anonymous, params: { token, id: body.id }, headers: TUS };
}
async function expired(w: World): Promise<Request> {
  const request = await begun(w, await link(w));
  await w.tenant.db.query(`UPDATE partial_uploads SET expires_at = now() - interval '1 s' WHERE uuid = $1`, [request.params?.id]);
  return request;
}
const withHeader = (request: Request, headers: Readonly<Record<string, string>>): Request => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Cases of an upload that has begun; `on` makes the operation's request of one that names it. */
function ofBegun(on: (request: Request) => Request, more: Readonly<Record<string, Make>> = {}): Cases {
  const guarded = (w: World): Promise<Request> =>
    link(w, { password: PASSWORD }).then((token) => begun(w, token, { 'x-share-password': PASSWORD }));
  return {
    success: async (w) => on(await begun(w, await link(w))),
    stranger: 'same',
    unseen: { name_conflict: 'of a name that a hundred files of one sender have already' },
    errors: {
      share_password_required: async (w) => on(await guarded(w)),
      share_password_wrong: async (w) => withHeader(on(await guarded(w)), { 'x-share-password': 'wrong' }),
      too_many_attempts: async (w) => {
        const request = await guarded(w);
        await guess(w, request);
        return withHeader(on(request), { 'x-share-password': PASSWORD });
      },
      upload_expired: async (w) => on(await expired(w)),
      tus_version_unsupported: async (w) => withoutVersion(Promise.resolve(on(await begun(w, await link(w))))),
      ...more,
    },
  };
}
const same = (request: Request): Request => request;

/** Uploads in parts, by tus, by the link of a folder. */
export const LINK_UPLOAD_CASES: Readonly<Record<string, Cases>> = {
  getUploadCapabilitiesByLink: {
    success: async (w) => ({ by: w.tenant.anonymous, params: { token: await link(w) } }),
    stranger: 'same',
  },
  createUploadByLink: {
    success: async (w) => created(w, await link(w)),
    stranger: 'same',
    unseen: { name_conflict: 'of a name that a hundred files of one sender have already' },
    errors: {
      share_password_required: async (w) => created(w, await link(w, { password: PASSWORD })),
      share_password_wrong: async (w) => created(w, await link(w, { password: PASSWORD }), { 'x-share-password': 'wrong' }),
      too_many_attempts: async (w) => {
        const request = created(w, await link(w, { password: PASSWORD }), { 'x-share-password': PASSWORD });
        await guess(w, request);
        return request;
      },
      quota_exceeded: async (w) => created(w, await w.fullRequest()),
      too_many_transfers: async (w) => created(w, await w.busyRequest()),
      conflict: async (w) => {
        const token = await link(w);
        await w.tenant.db.query(
          `INSERT INTO partial_uploads (uuid, user_id, length, metadata, expires_at, share_id)
           SELECT gen_random_uuid(), s.created_by, 5, '', now() + interval '1 h', s.id FROM shares s, generate_series(1, 100)
           WHERE s.token = $1`,
          [token],
        );
        return created(w, token);
      },
      tus_version_unsupported: async (w) => withoutVersion(Promise.resolve(created(w, await link(w)))),
      checksum_mismatch: async (w) => created(w, await link(w), WRONG_CHECKSUM),
    },
  },
  getUploadByLink: ofBegun(same),
  continueUploadByLink: ofBegun(continued, {
    conflict: async (w) => continued(await begun(w, await link(w)), { 'upload-offset': '3' }),
    checksum_mismatch: async (w) => continued(await begun(w, await link(w)), WRONG_CHECKSUM),
    too_many_transfers: async (w) => {
      const token = await w.busyRequest();
      return continued(await begun(w, token));
    },
    quota_exceeded: async (w) => {
      const { api, user } = await w.person();
      const request = await begun(w, (await w.folderLink({ mode: 'upload' }, api)).token);
      await w.tenant.db.query('UPDATE users SET storage_quota = 1 WHERE uuid = $1', [user.id]);
      return continued(request);
    },
  }),
  deleteUploadByLink: ofBegun(same),
};
