import {
  byAdmin,
  byBob,
  file,
  folder,
  of,
  plus,
  readFile,
  readFolder,
  TOO_LARGE,
  type Cases,
  type Make,
  type Request,
} from './case.ts';
import type { World } from './world.ts';

const grants = (kind: 'file' | 'folder') => {
  const reader = kind === 'file' ? readFile : readFolder;
  const level = { permission_level: 'write' };
  const grant: Make = async (w) => ({ params: await w.shared(kind) });
  const own: Make = async (w) => byBob(w, { params: await w.shared(kind, 'admin') });
  const list: Cases = { success: kind === 'file' ? file : folder, errors: { forbidden: reader } };
  return {
    list,
    access: list,
    create: {
      success: async (w: World) => ({ ...of(await w[kind]()), body: { ...level, user_id: w.bob.user.id } }),
      errors: { forbidden: async (w: World) => ({ ...(await reader(w)), body: { ...level, user_id: w.ada.user.id } }) },
      unseen: { quota_exceeded: 'of somebody who has given more grants than a test of all operations makes' },
    },
    update: { success: plus(grant, { body: level }), errors: { forbidden: plus(own, { body: level }) } },
    remove: { success: grant, errors: { forbidden: async (w: World) => byBob(w, { params: await w.shared(kind) }) } },
  } satisfies Record<string, Cases>;
};
const fileGrants = grants('file');
const folderGrants = grants('folder');

const share: Make = async (w) => of(await w.share());
const link =
  (fields: object, more: Request = {}): Make =>
  async (w) => ({ by: w.tenant.anonymous, params: { token: (await w.share(fields)).token }, ...more });
/** An administrator sees a link and does not change it. */
const shareChanges: Cases = {
  success: plus(share, { body: { max_downloads: 3 } }),
  isOpen: true,
  errors: {
    forbidden: async (w) => byAdmin(w, { ...of(await w.share()), body: { max_downloads: 3 } }),
    share_policy: plus(share, { body: { expires_at: null } }),
  },
};
const PASSWORD = 'correct horse battery';
const guarded = { password: PASSWORD };
const sharedDownloads = (send: (password: string | undefined) => Request): Cases => ({
  success: link({}, send(undefined)),
  stranger: 'same',
  errors: {
    range_not_satisfiable: link({}, { ...send(undefined), headers: { range: 'bytes=1000-' } }),
    too_many_transfers: async (w) => ({
      by: w.tenant.anonymous,
      params: { token: (await w.busyLink()).token },
      ...send(undefined),
    }),
    share_password_required: link(guarded, send(undefined)),
    share_password_wrong: link(guarded, send('another password')),
    too_many_attempts: async (w) => {
      const request = await link(guarded, send(PASSWORD))(w);
      const path = `/s/${request.params?.['token']}/download`;
      for (let attempt = 0; attempt < 10; attempt += 1)
        await w.tenant.anonymous.get(path, { headers: { 'x-share-password': 'wrong' } });
      return request;
    },
  },
});

/** A link of a folder, and the file in it. */
const folderLink =
  (fields: object, more: Request = {}): Make =>
  async (w) => ({ by: w.tenant.anonymous, params: { ...(await w.folderLink(fields)) }, ...more });
const WRONG = { headers: { 'x-share-password': 'wrong' } };
/** Sends as many wrong passwords as a network may. */
export async function guess(w: World, { params }: Request): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt += 1) await w.tenant.anonymous.get(`/s/${params?.['token']}`, WRONG);
}
const guessed: Make = async (w) => {
  const request = await folderLink(guarded, { headers: { 'x-share-password': PASSWORD } })(w);
  await guess(w, request);
  return request;
};
const PASSWORD_ERRORS = {
  share_password_required: folderLink(guarded),
  share_password_wrong: folderLink(guarded, WRONG),
  too_many_attempts: guessed,
} as const;
const folderDownload: Cases = {
  success: folderLink({}),
  stranger: 'same',
  errors: {
    ...PASSWORD_ERRORS,
    range_not_satisfiable: folderLink({}, { headers: { range: 'bytes=100000-' } }),
    too_many_transfers: async (w) => {
      const { by } = await w.busyLink();
      return { by: w.tenant.anonymous, params: { ...(await w.folderLink({}, by)) } };
    },
  },
};
const SENT = { name: 'essay.txt', text: 'essay', fields: { uploaded_by: 'Grace' } };
const linkUpload: Cases = {
  success: folderLink({ mode: 'upload' }, { form: SENT }),
  stranger: 'same',
  unseen: { name_conflict: 'of a name that a hundred files of one sender have already' },
  errors: {
    share_password_required: folderLink({ ...guarded, mode: 'upload' }, { form: SENT }),
    share_password_wrong: folderLink({ ...guarded, mode: 'upload' }, { form: SENT, ...WRONG }),
    too_many_attempts: async (w) => {
      const request = await folderLink(
        { ...guarded, mode: 'upload' },
        { form: SENT, headers: { 'x-share-password': PASSWORD } },
      )(w);
      await guess(w, request);
      return request;
    },
    quota_exceeded: async (w) => ({ by: w.tenant.anonymous, params: { token: await w.fullRequest() }, form: SENT }),
    too_many_transfers: async (w) => ({ by: w.tenant.anonymous, params: { token: await w.busyRequest() }, form: SENT }),
  },
};
const shareCreation = (kind: 'file' | 'folder'): Cases => ({
  success: async (w) => ({ ...of(await w[kind]()), body: {} }),
  errors: {
    forbidden: async (w) => ({ ...(await (kind === 'file' ? readFile : readFolder)(w)), body: {} }),
    quota_exceeded: async (w) => {
      const { api, file, folder: inFull } = await w.fullWithFile();
      return { by: api, params: { id: kind === 'file' ? file : inFull }, body: {} };
    },
    share_policy: async (w) => ({ ...of(await w[kind]()), body: { expires_at: null } }),
  },
});

/** Grants and share links. */
export const SHARING_CASES: Readonly<Record<string, Cases>> = {
  listFilePermissions: fileGrants.list,
  listFileAccess: fileGrants.access,
  createFilePermission: fileGrants.create,
  updateFilePermission: fileGrants.update,
  deleteFilePermission: fileGrants.remove,

  listFolderPermissions: folderGrants.list,
  listFolderAccess: folderGrants.access,
  createFolderPermission: folderGrants.create,
  updateFolderPermission: folderGrants.update,
  deleteFolderPermission: folderGrants.remove,

  listSharedWithMe: { success: () => ({}), stranger: 'same' },

  createShare: shareCreation('file'),
  createFolderShare: shareCreation('folder'),
  listFileShares: { success: file, errors: { forbidden: readFile } },
  listFolderShares: { success: folder, errors: { forbidden: readFolder } },
  listShares: { success: () => ({}), stranger: 'same' },
  getShare: { success: share },
  putShare: shareChanges,
  updateShare: shareChanges,
  deleteShare: { success: share },
  getShared: {
    success: folderLink({}),
    stranger: 'same',
    errors: { share_password_wrong: PASSWORD_ERRORS.share_password_wrong, too_many_attempts: guessed },
  },
  listShared: { success: folderLink({}), stranger: 'same', errors: PASSWORD_ERRORS },
  downloadFromSharedFolder: folderDownload,
  uploadByLink: linkUpload,
  downloadSharedFolder: { ...folderDownload, unseen: { archive_too_large: TOO_LARGE } },
  downloadSharedFile: sharedDownloads((password) =>
    password === undefined ? {} : { headers: { 'x-share-password': password } },
  ),
  downloadSharedFileWithPassword: sharedDownloads((password) => ({ body: password === undefined ? {} : { password } })),
};
