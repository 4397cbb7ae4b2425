import { LRUCache } from 'lru-cache';
import type { GuardedClient } from '../../net/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lookUpTag } from '../../runtime/language-tags.ts';
import type { Helper } from '../helper.ts';
import { addressOf, authorization } from './helper-calls.ts';
import { type HelperLanguages, languagesOf } from './replies.policy.ts';

/** The result of a cheap request to a helper. */
export interface Look {
  /** Whether it answers, even if only to say that the address does not exist. */
  readonly answers: boolean;
  /** Null: it does not list its languages. */
  readonly languages: HelperLanguages | null;
}

const LOOK_MS = 2_000;
const LOOK_BYTES_MAX = 256 * 1024;
const FRESH_MS = 60_000;
/** A helper that recovers is noticed within this time. */
const AWAY_FRESH_MS = 5_000;
const LOOKS_MAX = 1_000;

/** Looks at helpers (`GET /languages`), at most once a minute; concurrent callers share one request. */
export class HelperLooks {
  readonly #client: GuardedClient;
  readonly #looks: LRUCache<string, Promise<Look>>;

  constructor({ client, clock }: { client: GuardedClient; clock: Clock }) {
    this.#client = client;
    this.#looks = new LRUCache({ max: LOOKS_MAX, ttl: FRESH_MS, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  }

  /** Never throws. */
  at(tenant: string, helper: Helper): Promise<Look> {
    const key = `${tenant} ${helper.kind} ${helper.url} ${helper.token ?? ''}`;
    const known = this.#looks.get(key);
    if (known) return known;
    const look = this.#look(helper);
    this.#looks.set(key, look);
    void look.then(({ answers }) => {
      if (!answers && this.#looks.peek(key) === look) this.#looks.set(key, look, { ttl: AWAY_FRESH_MS });
    });
    return look;
  }

  /**
   * Returns a language tag in the helper's spelling (RFC 4647, lookup). If the helper does not know it, or lists no languages,
   * returns the tag itself; the helper's refusal is then the answer.
   */
  async spelling(tenant: string, helper: Helper, of: keyof HelperLanguages, tag: string): Promise<string> {
    const { languages } = await this.at(tenant, helper);
    return (languages && lookUpTag(tag, languages[of])) ?? tag;
  }

  async #look(helper: Helper): Promise<Look> {
    try {
      const { status, body } = await this.#client.request({
        url: addressOf(helper, '/languages'),
        headers: { ...authorization(helper), accept: 'application/json' },
        maxBytes: LOOK_BYTES_MAX,
        timeoutMs: LOOK_MS,
      });
      return { answers: status < 500, languages: status === 200 ? languagesOf(body.toString('utf8')) : null };
    } catch {
      return { answers: false, languages: null };
    }
  }
}
