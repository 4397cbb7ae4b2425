import { randomBytes } from 'node:crypto';
import { Api, type ApiReply } from '../support/api.ts';
import type { ChangeLog } from './change-log.ts';
import type { Seeded } from './seeded.ts';

/** A good client waits so long at most for one change to be taken, trying again and again. */
const PATIENCE_MS = 120_000;
/** One try: docs/design/testing.md promises an answer within 10 s. */
const ANSWER_MS = 30_000;
const PAUSE_MS = { first: 100, most: 2_000 };

interface Done {
  readonly reply: ApiReply;
  /** An earlier try of the same change may have been heard. */
  readonly isDoubtful: boolean;
}

export interface Account {
  readonly email: string;
  readonly password: string;
}

/**
 * Somebody who works by the REST API: uploads, new versions, renames and deletions of own files, creation and change of users, one after the other.
 * What fails by a 5xx, a refused or broken connection or a 429 is sent again with its Idempotency-Key, after a growing pause.
 */
export class Client {
  readonly #name: string;
  readonly #url: string;
  readonly #account: Account;
  readonly #random: Seeded;
  readonly #log: ChangeLog;
  #api: Api | undefined;
  #count = 0;
  readonly #files: string[] = [];
  readonly #users: string[] = [];

  constructor(options: { name: string; url: string; account: Account; random: Seeded; log: ChangeLog }) {
    this.#name = options.name;
    this.#url = options.url;
    this.#account = options.account;
    this.#random = options.random;
    this.#log = options.log;
  }

  /** Until all changes that are wanted have begun. */
  async work(): Promise<void> {
    while (this.#log.begin()) await this.#change();
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
    const { reply, isDoubtful } = await this.#insist('an upload', (api, headers) => api.upload('/files', { file, name, headers }));
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
    const { reply } = await this.#insist('a change of a user', (api, headers) => api.patch(`/users/${id}`, { display_name }, { headers }));
    expectStatus('a change of a user', reply, 200);
    this.#log.acknowledged.push({ event: 'user.updated', data: { id, display_name }, lists: 'display_name' });
  }

  #newName(): string {
    return `${this.#name}-${this.#count}`;
  }

  /** Sends until there is an answer that a repetition would not change. Throws when none comes. */
  async #insist(what: string, send: (api: Api, headers: { 'idempotency-key': string }) => Promise<ApiReply>): Promise<Done> {
    const headers = { 'idempotency-key': `${this.#name}-${this.#count}` };
    const deadline = performance.now() + PATIENCE_MS;
    let isDoubtful = false;
    let last = 'nothing';
    for (let pause = PAUSE_MS.first; performance.now() < deadline && !this.#log.isAbandoned; pause = Math.min(2 * pause, PAUSE_MS.most)) {
      try {
        const reply = await this.#once(what, send, headers);
        if (reply.status < 500 && !isForLater(reply)) return { reply, isDoubtful };
        if (reply.status === 401) this.#api = undefined;
        isDoubtful ||= reply.status >= 500;
        last = `${reply.status} ${JSON.stringify(reply.body)}`;
      } catch (error) {
        if (error instanceof NoAnswer) throw error;
        isDoubtful = true;
        last = String(error);
      }
      this.#log.retries += 1;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    throw new Error(`${what} was not taken within ${PATIENCE_MS} ms; the last answer was ${last}`);
  }

  async #once(
    what: string,
    send: (api: Api, headers: { 'idempotency-key': string }) => Promise<ApiReply>,
    headers: { 'idempotency-key': string },
  ): Promise<ApiReply> {
    this.#api ??= await new Api(this.#url).login(this.#account.email, this.#account.password);
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NoAnswer(`${what} had no answer within ${ANSWER_MS} ms, not even a 503`)), ANSWER_MS);
    });
    try {
      return await Promise.race([send(this.#api, headers), overdue]);
    } finally {
      clearTimeout(timer);
      this.#log.slowestMs = Math.max(this.#log.slowestMs, performance.now() - started);
    }
  }
}

class NoAnswer extends Error {}

/** Rate limits, a token that has expired, and a key whose first request is, as far as is known, still under way. */
const isForLater = (reply: ApiReply): boolean =>
  reply.status === 401 || reply.status === 429 || (reply.status === 409 && reply.headers['retry-after'] !== undefined);

function expectStatus(what: string, reply: ApiReply, wanted: number): void {
  if (reply.status !== wanted) throw new Error(`${what} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}
