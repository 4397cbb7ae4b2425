import { randomUUID } from 'node:crypto';
import {
  byBob,
  file,
  folder,
  NOBODY,
  of,
  plus,
  readFile,
  readFolder,
  TOO_LARGE,
  versions,
  type Cases,
  type Make,
} from './case.ts';
import { UNFINISHED_TASKS_MAX } from '../../../pkg/tasks/task-requests.ts';
import { range } from '../wait.ts';
import { zipBytes } from '../data/zip-bytes.ts';
import { made, type World } from './world.ts';

/** Requests by a person whose quota ends with a small file. */
const full =
  (form: boolean): Make =>
  async (w) => {
    const { api } = await w.person(['member'], 8);
    if (form) return { by: api, form: { name: 'x', text: 'more than 8 bytes' } };
    const { body } = await api.upload('/files', { file: Buffer.from('Hello.'), name: 'x' });
    return { by: api, params: { id: body.id }, body: { name: 'y' } };
  };

const changes = (kind: 'file' | 'folder'): Cases => ({
  success: async (w) => ({ ...of(await w[kind]()), body: { name: w.name() } }),
  errors: {
    forbidden: async (w) => byBob(w, { ...of(await w.shared(kind)), body: { name: w.name() } }),
    name_conflict: async (w) => ({ ...of(await w[kind]()), body: { name: (await w[kind]()).name } }),
    ...(kind === 'file'
      ? {}
      : {
          conflict: async (w: World) => {
            const { id } = await w.folder();
            const below = await w.folder({ parent_id: id });
            return { params: { id }, body: { parent_id: below.id } };
          },
        }),
  },
});

const restores = (kind: 'file' | 'folder'): Cases => ({
  success: async (w) => ({ ...of(await w.trashed(kind)), body: {} }),
  errors: {
    forbidden: async (w) => byBob(w, { ...of(await w.shared(kind)), body: {} }),
    name_conflict: async (w) => {
      const gone = await w.trashed(kind);
      await w[kind]({ name: gone.name });
      return { ...of(gone), body: {} };
    },
    conflict: async (w) => {
      const { id } = await w.folder();
      const inside = await w[kind](kind === 'file' ? { folder_id: id } : { parent_id: id });
      await w.ada.api.delete(`/folders/${id}`);
      return { ...of(inside), body: {} };
    },
  },
});

const deletes = (kind: 'file' | 'folder'): Cases => ({
  success: kind === 'file' ? file : folder,
  errors: { forbidden: kind === 'file' ? readFile : readFolder },
});

const downloads = (success: Make): Cases => ({
  success,
  errors: { range_not_satisfiable: plus(success, { headers: { range: 'bytes=1000-' } }) },
});

/** test/integration/content/folder-archives.test.ts makes so many. */

/** A tag is of a person: on what they may read, they put their own. */
const tagged: Cases = { success: async (w) => ({ params: { id: (await w.file()).id, tag_id: (await w.tag()).id } }) };
const taggedByFull: Make = async (w) => {
  const { api, file: id, tag: tag_id } = await w.fullWithFile();
  return { by: api, params: { id, tag_id } };
};
const tagChanges: Cases = {
  success: async (w) => ({ ...of(await w.tag()), body: { name: w.name() } }),
  errors: { name_conflict: async (w) => ({ ...of(await w.tag()), body: { name: (await w.tag()).name } }) },
};

const ticket: Make = async (w) => {
  const { id } = await w.file();
  const { body } = await w.ada.api.post(`/files/${id}/ticket`);
  return { by: w.tenant.anonymous, params: { ticket: body.url.split('/').at(-1) } };
};

const zipped = ({ api }: World['ada']) =>
  made(api.upload('/files', { name: `${randomUUID()}.zip`, file: zipBytes([{ name: 'a.txt', content: 'a' }]) }));

/** Files, uploads, versions, folders, trash, tags, metadata and jobs. */
export const CONTENT_CASES: Readonly<Record<string, Cases>> = {
  listJobs: { success: () => ({}), stranger: 'same', isOpen: true, errors: { forbidden: () => ({ query: { all: 'true' } }) } },
  getJob: { success: (w) => w.job() },
  listJobItems: { success: (w) => w.job() },
  cancelJob: {
    success: (w) => w.job(),
    errors: { conflict: (w) => w.failedJob() },
  },
  retryJob: {
    success: (w) => w.failedJob(),
    errors: { conflict: (w) => w.job() },
  },
  createExport: {
    success: async (w) => ({ body: { folder_id: (await w.folder()).id } }),
    errors: {
      not_found: () => ({ body: { folder_id: NOBODY } }),
      conflict: async (w) => {
        const { api } = await w.person();
        const body = { items: [{ type: 'file', id: NOBODY }] };
        for (const _ of range(UNFINISHED_TASKS_MAX)) await made(api.post('/exports', body));
        return { by: api, body };
      },
    },
  },
  createBatch: {
    success: async (w) => ({ by: (await w.person()).api, body: { operation: 'delete', items: [{ type: 'file', id: NOBODY }] } }),
    stranger: 'same',
    isOpen: true,
    errors: {
      not_found: () => ({ body: { operation: 'delete', filter: { folder_id: NOBODY } } }),
      forbidden: async (w) => ({
        by: (await w.person(['viewer'])).api,
        body: { operation: 'delete', items: [{ type: 'file', id: NOBODY }] },
      }),
      conflict: async (w) => {
        const { api } = await w.person();
        const body = { operation: 'delete', items: [{ type: 'file', id: NOBODY }] };
        for (const _ of range(UNFINISHED_TASKS_MAX)) await made(api.post('/batch', body));
        return { by: api, body };
      },
      value_type_mismatch: () => ({
        body: {
          operation: 'set_metadata',
          items: [{ type: 'file', id: NOBODY }],
          arguments: { key: 'k', value: 'x', value_type: 'number' },
        },
      }),
    },
  },
  createImport: {
    // All of its bytes are ASCII, as a form of these cases wants them.
    success: () => ({ form: { name: 'a.zip', text: zipBytes([{ name: 'a/' }]).toString('latin1') } }),
    stranger: 'same',
    errors: {
      not_found: async (w) => ({ body: { file_id: (await zipped(w.ada)).id, folder_id: NOBODY } }),
      forbidden: async (w) => byBob(w, { body: { file_id: (await zipped(w.bob)).id, folder_id: (await w.shared('folder')).id } }),
      conflict: async (w) => {
        const person = await w.person();
        const body = { file_id: (await zipped(person)).id };
        for (const _ of range(UNFINISHED_TASKS_MAX)) await made(person.api.post('/imports', body));
        return { by: person.api, body };
      },
      archive_refused: async (w) => ({ body: { file_id: (await w.file()).id } }),
      quota_exceeded: full(true),
    },
  },

  listTags: { success: () => ({}), stranger: 'same' },
  createTag: {
    success: (w) => ({ body: { name: w.name() } }),
    stranger: 'same',
    errors: {
      name_conflict: async (w) => ({ body: { name: (await w.tag()).name } }),
      quota_exceeded: async (w) => ({ by: (await w.fullOfEntries()).api, body: { name: w.name() } }),
    },
  },
  getTag: { success: async (w) => of(await w.tag()) },
  putTag: tagChanges,
  updateTag: tagChanges,
  deleteTag: { success: async (w) => of(await w.tag()) },
  listFileTags: { success: file },
  tagFile: { ...tagged, errors: { quota_exceeded: taggedByFull } },
  untagFile: tagged,

  listFiles: {
    success: () => ({}),
    stranger: 'same',
    errors: { not_found: () => ({ query: { folder_id: NOBODY } }) },
  },
  uploadFile: {
    success: (w) => ({ form: { name: w.name(), text: 'Hello.' } }),
    stranger: 'same',
    errors: {
      forbidden: async (w) =>
        byBob(w, { form: { name: w.name(), text: 'x', fields: { folder_id: (await w.shared('folder')).id } } }),
      not_found: (w) => ({ form: { name: w.name(), text: 'x', fields: { folder_id: NOBODY } } }),
      name_conflict: async (w) => ({ form: { name: (await w.file()).name, text: 'x' } }),
      quota_exceeded: full(true),
    },
  },
  getUploadCapabilities: { success: (w) => ({ by: w.tenant.anonymous }), stranger: 'same' },
  getFile: { success: file },
  updateFile: changes('file'),
  putFile: {
    ...changes('file'),
    errors: {
      ...changes('file').errors,
      quota_exceeded: async (w) => ({
        ...(await full(false)(w)),
        body: undefined,
        form: { name: 'x', text: 'more than 8 bytes' },
      }),
    },
  },
  deleteFile: deletes('file'),
  restoreFile: restores('file'),
  copyFile: {
    success: async (w) => ({ ...of(await w.file()), body: { name: w.name() } }),
    errors: {
      forbidden: async (w) => ({
        by: w.bob.api,
        ...of(await w.shared('file')),
        body: { folder_id: (await w.shared('folder')).id, name: w.name() },
      }),
      name_conflict: async (w) => ({ ...of(await w.file()), body: {} }),
      quota_exceeded: full(false),
    },
  },
  downloadFile: downloads(file),
  listFileMetadata: { success: file },
  putFileMetadata: {
    success: async (w) => ({ params: { id: (await w.file()).id, key: 'term' }, body: { value: '1' } }),
    errors: {
      forbidden: async (w) => byBob(w, { params: { id: (await w.shared('file')).id, key: 'term' }, body: { value: '1' } }),
      conflict: async (w) => {
        const { id } = await w.file();
        for (let at = 0; at < 100; at += 1) await w.ada.api.put(`/files/${id}/metadata/k${at}`, { value: '1' });
        return { params: { id, key: 'one-more' }, body: { value: '1' } };
      },
      value_type_mismatch: async (w) => ({
        params: { id: (await w.file()).id, key: 'term' },
        body: { value: 'one', value_type: 'number' },
      }),
      quota_exceeded: async (w) => {
        const { api } = await w.person(['member'], 8);
        const { body } = await api.upload('/files', { file: Buffer.from('Hello.'), name: 'x' });
        return { by: api, params: { id: body.id, key: 'term' }, body: { value: '1' } };
      },
    },
  },
  deleteFileMetadata: {
    success: async (w) => ({ params: await w.metadata() }),
    errors: { forbidden: async (w) => byBob(w, { params: { id: (await w.shared('file')).id, key: 'term' } }) },
  },
  createTicket: { success: file },

  listVersions: { success: file },
  getVersion: { success: versions },
  deleteVersion: {
    success: versions,
    errors: {
      conflict: async (w) => ({ params: { id: (await w.versions()).id, number: 2 } }),
      forbidden: async (w) => byBob(w, { params: { id: (await w.shared('file')).id, number: 1 } }),
    },
  },
  downloadVersion: downloads(versions),
  restoreVersion: {
    success: plus(versions, { body: {} }),
    errors: {
      forbidden: async (w) => byBob(w, { params: { id: (await w.shared('file')).id, number: 1 }, body: {} }),
      quota_exceeded: async (w) => {
        const { api } = await w.person(['member'], 12);
        const { body } = await api.upload('/files', { file: Buffer.from('Hello.'), name: 'x' });
        await api.upload(`/files/${body.id}`, { method: 'PUT', file: Buffer.from('Hello.'), name: 'x' });
        return { by: api, params: { id: body.id, number: 1 }, body: {} };
      },
    },
  },
  createVersionTicket: { success: versions },
  downloadByTicket: {
    success: ticket,
    stranger: 'same',
    unseen: { archive_too_large: TOO_LARGE },
    errors: {
      range_not_satisfiable: async (w) => ({
        ...(await ticket(w)),
        headers: { range: 'bytes=1000-' },
      }),
    },
  },

  search: {
    success: () => ({ query: { q: 'a' } }),
    stranger: 'same',
    errors: { not_found: () => ({ query: { q: 'a', folder_id: NOBODY } }) },
  },

  createFolder: {
    success: (w) => ({ body: { name: w.name() } }),
    stranger: 'same',
    errors: {
      forbidden: async (w) => byBob(w, { body: { name: w.name(), parent_id: (await w.shared('folder')).id } }),
      not_found: (w) => ({ body: { name: w.name(), parent_id: NOBODY } }),
      name_conflict: async (w) => ({ body: { name: (await w.folder()).name } }),
      quota_exceeded: async (w) => ({ by: (await w.fullOfEntries()).api, body: { name: w.name() } }),
    },
  },
  listFolders: { success: () => ({}), stranger: 'same', errors: { not_found: () => ({ query: { parent_id: NOBODY } }) } },
  listRootChildren: { success: () => ({}), stranger: 'same' },
  listFolderChildren: { success: folder },
  getFolder: { success: folder },
  getFolderPath: { success: folder },
  putFolder: changes('folder'),
  updateFolder: changes('folder'),
  deleteFolder: deletes('folder'),
  restoreFolder: restores('folder'),
  copyFolder: {
    success: async (w) => ({ ...of(await w.folder()), body: { name: w.name() } }),
    errors: {
      forbidden: async (w) =>
        byBob(w, { ...of(await w.shared('folder')), body: { parent_id: (await w.shared('folder')).id, name: w.name() } }),
      name_conflict: async (w) => ({ ...of(await w.folder()), body: {} }),
      conflict: async (w) => {
        const { id } = await w.folder();
        return { params: { id }, body: { parent_id: id, name: w.name() } };
      },
      quota_exceeded: async (w) => {
        const { api, folder } = await w.fullOfEntries();
        return { by: api, params: { id: folder }, body: { name: w.name() } };
      },
    },
  },
  downloadFolder: { ...downloads(folder), unseen: { archive_too_large: TOO_LARGE } },
  createFolderTicket: { success: folder },
  listTrash: { success: () => ({}), stranger: 'same' },
  emptyTrash: { success: async (w) => ({ by: (await w.person()).api }), stranger: 'same' },
};
