import { LRUCache } from 'lru-cache';
import type { GuardedClient } from '../../net/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lookUpTag } from '../../runtime/language-tags.ts';
import type { Helper } from '../helper.ts';
import { addressOf, authorization } from './helper-calls.ts';
import { type HelperLanguages, languagesOf } from './replies.policy.ts';

/** The result of a cheap request to a helper. */
export interface HelperCheck {
  /** Whether it answers, even if only to say that the address does not exist. */
  readonly answers: boolean;
  /** Null: it does not list its languages. */
  readonly languages: HelperLanguages | null;
}

const CHECK_TIMEOUT_MS = 2_000;
const REPLY_BYTES_MAX = 256 * 1024;
const FRESH_MS = 60_000;
/** A helper that recovers is noticed within this time. */
const UNAVAILABLE_FRESH_MS = 5_000;
const CHECKS_MAX = 1_000;

/** Checks helpers (`GET /languages`), at most once a minute; concurrent callers share one request. */
export class HelperChecks {
  readonly #client: GuardedClient;
  readonly #checks: LRUCache<string, Promise<HelperCheck>>;

  constructor({ client, clock }: { client: GuardedClient; clock: Clock }) {
    this.#client = client;
    this.#checks = new LRUCache({ max: CHECKS_MAX, ttl: FRESH_MS, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  }

  /** Never throws. */
  at(tenant: string, helper: Helper): Promise<HelperCheck> {
    const key = `${tenant} ${helper.kind} ${helper.url} ${helper.token ?? ''}`;
    const known = this.#checks.get(key);
    if (known) return known;
    const check = this.#check(helper);
    this.#checks.set(key, check);
    void check.then(({ answers }) => {
      if (!answers && this.#checks.peek(key) === check) this.#checks.set(key, check, { ttl: UNAVAILABLE_FRESH_MS });
    });
    return check;
  }

  /**
   * Returns a language tag in the helper's spelling (RFC 4647, lookup). If the helper does not know it, or lists no languages,
   * returns the tag itself; the helper's refusal is then the answer.
   */
  async spelling(tenant: string, helper: Helper, of: keyof HelperLanguages, tag: string): Promise<string> {
    const { languages } = await this.at(tenant, helper);
    return (languages && lookUpTag(tag, languages[of])) ?? tag;
  }

  async #check(helper: Helper): Promise<HelperCheck> {
    try {
      const { status, body } = await this.#client.request({
        url: addressOf(helper, '/languages'),
        headers: { ...authorization(helper), accept: 'application/json' },
        maxBytes: REPLY_BYTES_MAX,
        timeoutMs: CHECK_TIMEOUT_MS,
      });
      return { answers: status < 500, languages: status === 200 ? languagesOf(body.toString('utf8')) : null };
    } catch {
      return { answers: false, languages: null };
    }
  }
}
