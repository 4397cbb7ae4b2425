import type { Actor } from '../api/actor.ts';
import { reply, type Reply } from '../api/endpoint.ts';
import { invalid, Problem } from '../api/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { SealError, type Sealer } from '../runtime/sealing.ts';
import type { Database } from '../store/postgres/database.ts';
import type { IdempotencyKey } from '../store/postgres/tables.ts';
import { DAY_MS } from '../runtime/time.ts';

export const IDEMPOTENCY_KEY_PATTERN = '^[!-~]{1,255}$';
const KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);
/** A request that died holds its key for this time; a running one renews it after a third of the time. */
const LOCK_MS = 10_000;
/** A successful reply is stored for this time. */
const REPLY_MS = DAY_MS;

/**
 * Two requests are the same if these are: method, address, the headers that the endpoint reads, a JSON body's bytes, and the
 * launch of the session, which may see less than the user's other sessions. Streamed bytes are not compared.
 */
interface ComparedRequest {
  readonly method: string;
  readonly url: string;
  /** The headers as lines; empty if the endpoint reads none. */
  readonly headers: string;
  readonly body: Buffer | undefined;
  readonly launchId: string | undefined;
}

interface KeyedRequest {
  readonly key: string;
  readonly actor: Actor;
  readonly request: ComparedRequest;
  readonly isSecret: boolean;
}

/** Returns no row if the key exists. Each insert deletes up to a hundred expired rows, so the table holds about one day. */
const CLAIM = `
  WITH expired AS (
    DELETE FROM idempotency_keys WHERE (user_id, key) IN (
      SELECT user_id, key FROM idempotency_keys WHERE expires_at <= $6 AND (user_id, key) <> ($1, $2)
      ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO idempotency_keys (user_id, key, fingerprint, locked_until, expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT DO NOTHING RETURNING key`;

/**
 * Idempotency-Key: a repeated request gets the first one's reply.
 *
 * Invariants:
 * - Of racing requests with one key, one runs (a unique insert decides). The others get 409 while it runs, and its reply
 *   afterwards.
 * - A key that was used with another request is a 422. So is one that another session used, if either session is a launch's.
 * - The stored part of a request does not let anyone guess its body: it is an HMAC by the tenant's data key.
 * - A reply with a secret in it is stored sealed with the tenant's data key, bound to its user and key; it goes nowhere else.
 * - Successful replies are stored for REPLY_MS; later keys then delete them. A failed request changed nothing, so its key is free
 *   again.
 *
 * Not promised: if the server dies, or loses Postgres, between the commit of the work and the storing of its reply, the key is
 * free after LOCK_MS and the request runs again. Names and addresses are unique, so that mostly ends as a 409. With
 * `on_conflict=rename` or a new version, the work is done twice.
 */
export class IdempotencyKeys {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #sealer: Sealer;
  readonly #tenantId: string;

  constructor(deps: { db: Database; clock: Clock; sealer: Sealer; tenant: { readonly id: string } }) {
    this.#db = deps.db;
    this.#clock = deps.clock;
    this.#sealer = deps.sealer;
    this.#tenantId = deps.tenant.id;
  }

  /** `isSecret`: the reply has a secret in it. */
  async run({ key, actor, request, isSecret }: KeyedRequest, log: Logger, work: () => Promise<Reply>): Promise<Reply> {
    if (!KEY.test(key)) throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
    const fingerprints = this.#fingerprints(request);
    const known = await this.#claim(key, actor, fingerprints);
    const seal = isSecret ? this.#sealOf(actor, key) : PLAIN;
    if (known) return replay(known, fingerprints, seal);

    const where = { userId: actor.userId, key };
    const beat = setInterval(() => {
      this.#db.tables.idempotencyKeys.update(where, { lockedUntil: this.#after(LOCK_MS) }).catch(() => undefined);
    }, LOCK_MS / 3).unref();
    try {
      const done = await work();
      await this.#keep(where, done, seal, log);
      return done;
    } catch (error) {
      // Otherwise the lock expires.
      await this.#db.tables.idempotencyKeys.delete({ ...where, statusCode: null }).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(beat);
    }
  }

  /** Returns undefined if this request now has the key; otherwise the row of the request that has it. */
  async #claim(key: string, actor: Actor, fingerprints: readonly string[]): Promise<IdempotencyKey | undefined> {
    const [fingerprint] = fingerprints;
    const now = this.#clock.now();
    const claim = { lockedUntil: this.#after(LOCK_MS), expiresAt: this.#after(REPLY_MS) };
    const claimed = await this.#db.query(CLAIM, [actor.userId, key, fingerprint, claim.lockedUntil, claim.expiresAt, now]);
    if (claimed.length > 0) return undefined;
    const taken = await this.#db.query(
      `UPDATE idempotency_keys
          SET fingerprint = $3, locked_until = $4, expires_at = $5, created_at = $6,
              status_code = NULL, headers = NULL, body = NULL
        WHERE user_id = $1 AND key = $2
          AND (expires_at <= $6 OR (status_code IS NULL AND locked_until <= $6 AND fingerprint = ANY($7))) RETURNING key`,
      [actor.userId, key, fingerprint, claim.lockedUntil, claim.expiresAt, now, fingerprints],
    );
    if (taken.length > 0) return undefined;
    const row = await this.#db.tables.idempotencyKeys.find({ userId: actor.userId, key });
    if (!row)
      throw new Problem('conflict', 'The request that had this Idempotency-Key has just failed; send it again.', {
        retryAfter: 1,
      });
    return row;
  }

  async #keep(where: { userId: number; key: string }, done: Reply, seal: Seal, log: Logger): Promise<void> {
    try {
      const body = done.body === undefined ? null : seal.close(JSON.stringify(done.body));
      await this.#db.tables.idempotencyKeys.update(where, { statusCode: done.status, headers: { ...done.headers }, body });
    } catch (error) {
      log.warn({ err: error }, 'the reply of an idempotent request could not be stored'); // the request was carried out
    }
  }

  /** Uses the tenant's data keys: a body may hold a password, and whoever reads the table could guess it from a plain hash. */
  #fingerprints({ method, url, headers, body, launchId }: ComparedRequest): string[] {
    const parts = [`${method} ${url}\n${headers}`, launchId === undefined ? '' : `launch ${launchId}\n`, body ?? ''];
    return this.#sealer.hmacs('idempotency-fingerprint', parts);
  }

  #sealOf({ userUuid }: Actor, key: string): Seal {
    const associatedData = [this.#tenantId, 'idempotency_keys', `${userUuid} ${key}`, 'body'];
    return { close: (text) => this.#sealer.seal(text, associatedData), open: (text) => this.#sealer.open(text, associatedData) };
  }

  #after(ms: number): Date {
    return new Date(this.#clock.now().getTime() + ms);
  }
}

/** The way in which a body is stored. */
interface Seal {
  readonly close: (text: string) => string;
  readonly open: (text: string) => string;
}

const PLAIN: Seal = { close: (text) => text, open: (text) => text };

/** Throws Problem `conflict` if the data key that sealed the body no longer exists. */
function opened(body: string, seal: Seal): unknown {
  try {
    return JSON.parse(seal.open(body));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new Problem(
      'conflict',
      'The request was carried out, but its reply can no longer be read. Use another key for a new request.',
      {
        cause: error,
      },
    );
  }
}

function replay(row: IdempotencyKey, fingerprints: readonly string[], seal: Seal): Reply {
  if (!fingerprints.includes(row.fingerprint)) throw new Problem('idempotency_key_reused');
  if (row.statusCode === null)
    throw new Problem('conflict', 'A request with this Idempotency-Key is in progress.', { retryAfter: 1 });
  return reply(row.statusCode, row.body === null ? undefined : opened(row.body, seal), {
    ...row.headers,
    'Idempotency-Replayed': 'true',
  });
}
