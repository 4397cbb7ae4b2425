import { Readable } from 'node:stream';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { Api, ApiReply } from '../clients/api.ts';
import { type Fault, startHelper } from '../fakes/helpers/helper.ts';
import { launched } from '../lms/launched.ts';
import type { Registration } from '../lms/registration.ts';
import type { TestTenant } from '../programs/server.ts';
import { range, waitFor } from '../wait.ts';
import { addWebhook } from '../clients/webhooks.ts';

/**
 * The transfers that the tenant allows one person at once: more than the downloads that have not quite ended at the next
 * request.
 */
export const TRANSFERS = 6;

export interface Person {
  readonly api: Api;
  readonly user: { readonly id: string; readonly email: string };
  readonly password: string;
}

/** Makes the things that cases begin with, new for each call. */
export class World {
  readonly tenant: TestTenant;
  readonly at: Registration;
  /** Owns what the makers below make. */
  readonly ada: Person;
  /** Another member. */
  readonly bob: Person;
  readonly #held: (() => Promise<void>)[] = [];

  constructor(tenant: TestTenant, at: Registration, ada: Person, bob: Person) {
    this.tenant = tenant;
    this.at = at;
    this.ada = ada;
    this.bob = bob;
  }

  name = (): string => `n-${systemRandom.hex(5)}`;
  person = (roles = ['member'], storage_quota?: number): Promise<Person> =>
    this.tenant.user({ roles, ...(storage_quota === undefined ? {} : { storage_quota }) });

  /** Somebody with a folder, and with as many files and folders as a person may have. */
  fullOfEntries = async (): Promise<{ api: Api; folder: string }> => {
    const { api, user } = await this.person();
    const { id } = await made(api.post('/folders', { name: this.name() }));
    await this.tenant.db.query('UPDATE users SET entries = 500000 WHERE uuid = $1', [user.id]);
    return { api, folder: id };
  };

  /** A file and a tag of somebody who has as much as a person may have. */
  fullWithFile = async (): Promise<{ api: Api; file: string; folder: string; tag: string }> => {
    const { api, user } = await this.person();
    const { id: file } = await made(api.upload('/files', { file: Buffer.from('Hello.'), name: this.name() }));
    const { id: tag } = await this.tag(api);
    const { id: folder } = await made(api.post('/folders', { name: this.name() }));
    await this.tenant.db.query('UPDATE users SET entries = 500000 WHERE uuid = $1', [user.id]);
    return { api, file, folder, tag };
  };

  file = (fields: { folder_id?: string; name?: string } = {}): Promise<Body> => {
    const { name = this.name(), ...rest } = fields;
    return made(this.ada.api.upload('/files', { file: Buffer.from('Hello.'), name, fields: rest }));
  };
  folder = (fields: { parent_id?: string; name?: string } = {}): Promise<Body> =>
    made(this.ada.api.post('/folders', { name: this.name(), ...fields }));
  trashed = async (kind: 'file' | 'folder', fields: object = {}): Promise<Body> => {
    const item = await this[kind](fields);
    await made(this.ada.api.delete(`/${kind}s/${item.id}`));
    return item;
  };
  /** A file with two versions. */
  versions = async (): Promise<Body> => {
    const file = await this.file();
    await made(this.ada.api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from('Hello again.'), name: 'x' }));
    return file;
  };
  tag = (by = this.ada.api): Promise<Body> => made(by.post('/tags', { name: this.name() }));
  metadata = async (): Promise<Body> => {
    const { id } = await this.file();
    await made(this.ada.api.put(`/files/${id}/metadata/term`, { value: '1' }));
    return { id, key: 'term' };
  };
  /** Makes an item of ada's that she shares with bob at this level. */
  shared = async (kind: 'file' | 'folder', permission_level = 'read'): Promise<Body> => {
    const item = await this[kind]();
    const grant = await made(
      this.ada.api.post(`/${kind}s/${item.id}/permissions`, { permission_level, user_id: this.bob.user.id }),
    );
    return { id: item.id, permission_id: grant.id };
  };
  share = async (fields: object = {}): Promise<Body> => {
    const { id } = await this.file();
    return made(this.ada.api.post(`/files/${id}/share`, fields));
  };
  /** A link of a folder with a file: the link's token, and the file's id. */
  folderLink = async (fields: object = {}, by = this.ada.api): Promise<{ token: string; id: string }> => {
    const folder = await made(by.post('/folders', { name: this.name() }));
    const upload = { file: Buffer.alloc(1000), name: this.name(), fields: { folder_id: folder.id } };
    const { id } = await made(by.upload('/files', upload));
    const { token } = await made(by.post(`/folders/${folder.id}/share`, fields));
    return { token, id };
  };
  group = (): Promise<Body> => made(this.tenant.admin.post('/groups', { name: this.name() }));
  /** Makes the group of a course, which the LMS manages. */
  course = async (): Promise<Body> => {
    const title = this.name();
    await launched(this.tenant, this.at, { course: { id: title, title } });
    const { data } = await made(this.tenant.admin.get('/groups', { query: { q: title } }));
    return data[0];
  };
  webhook = (fields: object = {}): Promise<Body> =>
    made(this.tenant.admin.post('/webhooks', { url: 'https://receiver.example.org/hook', events: ['file.created'], ...fields }));
  managedWebhook = async (): Promise<Body> => ({ id: await addWebhook(this.tenant, { events: ['user.created'] }) });
  schedule = (): Promise<Body> =>
    made(this.tenant.admin.post('/schedules', { name: this.name(), kind: 'recount_usage', cron: '0 3 * * *' }));
  managedSchedule = async (): Promise<Body> => {
    const { id } = await this.schedule();
    await this.tenant.db.query(`UPDATE schedules SET managed_by = 'kubernetes', managed_ref = $2 WHERE uuid = $1`, [
      id,
      this.name(),
    ]);
    return { id };
  };
  delivery = async (): Promise<Body> => {
    const { id } = await this.webhook();
    const { id: delivery } = await made(this.tenant.admin.post(`/webhooks/${id}/test`, {}));
    return { id, delivery };
  };
  /** Returns a job that waits for a worker, of a user who has no other one. */
  job = async (): Promise<{ by: Api; params: { id: string } }> => {
    const { api } = await this.person();
    const { id } = await made(api.post('/folders', { name: this.name() }));
    const job = await made(api.post(`/folders/${id}/copy`, { name: this.name() }));
    return { by: api, params: { id: job.id } };
  };
  /** Returns a job that has ended, with one failed item. */
  failedJob = async (): Promise<{ by: Api; params: { id: string } }> => {
    const job = await this.job();
    await this.tenant.db.query(
      `WITH task AS (
         UPDATE tasks SET state = 'succeeded', is_planned = true, total = 1, done = 1, failed = 1, started_at = now(),
           ended_at = now()
         WHERE uuid = $1 RETURNING id
       ) INSERT INTO task_items (task_id, rank, target_type, target, target_name, state, error_code, error_message)
         SELECT id, 1, 'file', gen_random_uuid(), 'a', 'failed', 'quota_exceeded', 'no space' FROM task`,
      [job.params.id],
    );
    return job;
  };
  pdf = (content: Buffer, by = this.ada.api): Promise<Body> =>
    made(by.upload('/files', { file: content, name: `${this.name()}.pdf` }));
  /** Has the tenant use a helper service for everything, that behaves so until `release`; `none`: it has none. */
  helpers = async (how?: Fault | 'none'): Promise<void> => {
    if (how === 'none') return syncHelpers(this.tenant.rows, []);
    const helper = await startHelper();
    this.#held.push(() => helper.close());
    await helper.fail(how);
    const { url } = helper;
    const kinds = ['translate', 'pdf_optimize', 'pdf_translate'] as const;
    await syncHelpers(
      this.tenant.rows,
      kinds.map((kind) => ({ kind, url, token: null })),
    );
  };
  /** A share link of somebody of whose links as many downloads as may be are in progress until `release`. */
  busyLink = async (): Promise<{ token: string; by: Api }> => {
    const { api } = await this.person();
    const { id } = await made(api.upload('/files', { file: Buffer.alloc(16 << 20), name: this.name() }));
    const { token } = await made(api.post(`/files/${id}/share`, {}));
    for (const _ of range(TRANSFERS)) {
      const response = await fetch(`${this.tenant.apiUrl}/s/${token}/download`);
      this.#held.push(async () => response.body?.cancel());
    }
    return { token, by: api };
  };
  /** A link for uploads, by which as many uploads as may be are in progress until `release`. */
  busyRequest = async (): Promise<string> => {
    const { token } = await this.folderLink({ mode: 'upload' }, (await this.person()).api);
    const gate = Promise.withResolvers<void>();
    async function* bytes(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(1000);
      await gate.promise;
    }
    const before = this.tenant.observed.sql.length;
    const uploads = range(TRANSFERS).map(() =>
      this.tenant.anonymous.upload(`/s/${token}/files`, {
        file: Readable.from(bytes()),
        name: this.name(),
        fields: { uploaded_by: 'Grace' },
      }),
    );
    this.#held.push(async () => {
      gate.resolve();
      await Promise.allSettled(uploads);
    });
    const begun = (): number => this.tenant.observed.sql.slice(before).filter((sql) => sql.includes('storage_quota')).length;
    await waitFor('the uploads to begin', () => begun() >= TRANSFERS);
    return token;
  };
  /** A link for uploads whose maker has no quota. */
  fullRequest = async (): Promise<string> => {
    const { api, user } = await this.person();
    const { token } = await this.folderLink({ mode: 'upload' }, api);
    await made(this.tenant.admin.patch(`/users/${user.id}`, { storage_quota: 0 }));
    return token;
  };
  /** Ends what a case has left in progress, and makes room for further webhooks and schedules. */
  release = async (): Promise<void> => {
    await this.tenant.db.query('DELETE FROM webhooks');
    await this.tenant.db.query('DELETE FROM schedules');
    for (const end of this.#held.splice(0)) await end();
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- what the server sent, whatever that was
export type Body = any;

/** The body of a reply that is no error. Throws. */
export async function made(sent: Promise<ApiReply>): Promise<Body> {
  const { status, body } = await sent;
  if (status >= 300) throw new Error(`a case could not begin: ${status} ${JSON.stringify(body)}`);
  return body;
}
