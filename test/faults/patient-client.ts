import { Api, type ApiReply } from '../support/clients/api.ts';
import type { ChangeLog } from './change-log.ts';

/** A good client waits so long at most for one change to be taken, trying again and again. */
const PATIENCE_MS = 120_000;
/** The limit of one try. docs/design/testing.md promises an answer within 10 s. */
const ANSWER_MS = 30_000;
const PAUSE_MS = { first: 100, most: 2_000 };

export interface Done {
  readonly reply: ApiReply;
  /** An earlier try of the same change may have been heard. */
  readonly isDoubtful: boolean;
}

export interface Account {
  readonly email: string;
  readonly password: string;
}

/**
 * A client of the REST API. What fails by a 5xx, a refused or broken connection or a 429 is sent again with its Idempotency-Key,
 * after a growing pause.
 */
export class PatientClient {
  readonly #url: string;
  readonly #account: Account;
  readonly #log: Pick<ChangeLog, 'retries' | 'slowestMs' | 'isAbandoned'>;
  #api: Api | undefined;

  constructor({
    url,
    account,
    log,
  }: {
    url: string;
    account: Account;
    log: Pick<ChangeLog, 'retries' | 'slowestMs' | 'isAbandoned'>;
  }) {
    this.#url = url;
    this.#account = account;
    this.#log = log;
  }

  /** Sends until there is an answer that a repetition would not change. Throws when none comes. */
  async insist(
    what: string,
    key: string,
    send: (api: Api, headers: { 'idempotency-key': string }) => Promise<ApiReply>,
  ): Promise<Done> {
    const headers = { 'idempotency-key': key };
    const deadline = performance.now() + PATIENCE_MS;
    let isDoubtful = false;
    let last = 'nothing';
    for (
      let pause = PAUSE_MS.first;
      performance.now() < deadline && !this.#log.isAbandoned;
      pause = Math.min(2 * pause, PAUSE_MS.most)
    ) {
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

export function expectStatus(what: string, reply: ApiReply, wanted: number): void {
  if (reply.status !== wanted) throw new Error(`${what} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}
