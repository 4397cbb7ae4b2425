import { randomBytes } from 'node:crypto';
import type { ChangeLog } from './change-log.ts';
import { type Account, type Done, expectStatus, PatientClient } from './patient-client.ts';
import type { Seeded } from './seeded.ts';

/**
 * Somebody who works by the REST API: uploads, new versions, renames and deletions of own files, creation and change of users,
 * one after the other.
 */
export class Client {
  readonly #name: string;
  readonly #client: PatientClient;
  readonly #random: Seeded;
  readonly #log: ChangeLog;
  readonly #pace: () => Promise<unknown>;
  #count = 0;
  readonly #files: string[] = [];
  readonly #users: string[] = [];

  /** `pace` resolves when the next change may begin. */
  constructor(options: {
    name: string;
    url: string;
    account: Account;
    random: Seeded;
    log: ChangeLog;
    pace?: () => Promise<unknown>;
  }) {
    this.#name = options.name;
    this.#client = new PatientClient(options);
    this.#random = options.random;
    this.#log = options.log;
    this.#pace = options.pace ?? (async () => undefined);
  }

  /** Until all changes that are wanted have begun. */
  async work(): Promise<void> {
    while (this.#log.begin()) {
      await this.#pace();
      await this.#change();
    }
  }

  async #change(): Promise<void> {
    this.#count += 1;
    const file = this.#files.at(this.#random.between(0, Math.max(0, this.#files.length - 1)));
    const user = this.#users.at(this.#random.between(0, Math.max(0, this.#users.length - 1)));
    const ofFile = (change: (file: string) => Promise<void>) => () => (file === undefined ? this.#upload() : change(file));
    const ofUser = (change: (user: string) => Promise<void>) => () => (user === undefined ? this.#createUser() : change(user));
    await this.#random.weighted([
      [35, () => this.#upload()],
      [20, ofFile((id) => this.#rename(id))],
      [10, ofFile((id) => this.#addVersion(id))],
      [10, ofFile((id) => this.#delete(id, false))],
      [7, ofFile((id) => this.#delete(id, true))],
      [8, () => this.#createUser()],
      [10, ofUser((id) => this.#renameUser(id))],
    ])();
  }

  async #upload(): Promise<void> {
    const name = `${this.#newName()}.bin`;
    const file = randomBytes(this.#random.between(0, 20_000));
    const { reply, isDoubtful } = await this.#insist('an upload', (api, headers) =>
      api.upload('/files', { file, name, headers }),
    );
    // The file stands from a try whose answer was lost; no reply named its id.
    if (isDoubtful && reply.status === 409) return void (this.#log.lost += 1);
    expectStatus('an upload', reply, 201);
    this.#files.push(reply.body.id);
    this.#log.acknowledged.push({ event: 'file.created', data: { id: reply.body.id, name, size: file.length } });
  }

  async #addVersion(id: string): Promise<void> {
    const file = randomBytes(this.#random.between(0, 20_000));
    const { reply } = await this.#insist('a new version', (api, headers) =>
      api.upload(`/files/${id}`, { method: 'PUT', file, name: 'content', headers }),
    );
    expectStatus('a new version', reply, 200);
    const data = { id, version: reply.body.version, size: file.length };
    this.#log.acknowledged.push({ event: 'file.updated', data, lists: 'content' });
  }

  async #rename(id: string): Promise<void> {
    const name = `${this.#newName()} renamed.bin`;
    const { reply } = await this.#insist('a rename', (api, headers) => api.patch(`/files/${id}`, { name }, { headers }));
    expectStatus('a rename', reply, 200);
    this.#log.acknowledged.push({ event: 'file.updated', data: { id, name }, lists: 'name' });
  }

  async #delete(id: string, permanent: boolean): Promise<void> {
    const { reply, isDoubtful } = await this.#insist('a deletion', (api, headers) =>
      api.delete(`/files/${id}`, { headers, query: permanent ? { permanent } : {} }),
    );
    this.#files.splice(this.#files.indexOf(id), 1);
    if (isDoubtful && reply.status === 404) return void (this.#log.lost += 1);
    expectStatus('a deletion', reply, 204);
    this.#log.acknowledged.push({ event: 'file.deleted', data: { id, permanent } });
  }

  async #createUser(): Promise<void> {
    const username = this.#newName();
    const user = { username, email: `${username}@example.org`, display_name: 'New' };
    const { reply, isDoubtful } = await this.#insist('a new user', (api, headers) => api.post('/users', user, { headers }));
    if (isDoubtful && reply.status === 409) return void (this.#log.lost += 1);
    expectStatus('a new user', reply, 201);
    this.#users.push(reply.body.id);
    this.#log.acknowledged.push({ event: 'user.created', data: { id: reply.body.id, ...user } });
  }

  async #renameUser(id: string): Promise<void> {
    const display_name = this.#newName();
    const { reply } = await this.#insist('a change of a user', (api, headers) =>
      api.patch(`/users/${id}`, { display_name }, { headers }),
    );
    expectStatus('a change of a user', reply, 200);
    this.#log.acknowledged.push({ event: 'user.updated', data: { id, display_name }, lists: 'display_name' });
  }

  #newName(): string {
    return `${this.#name}-${this.#count}`;
  }

  #insist(what: string, send: Parameters<PatientClient['insist']>[2]): Promise<Done> {
    return this.#client.insist(what, `${this.#name}-${this.#count}`, send);
  }
}
