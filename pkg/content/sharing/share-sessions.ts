import { z } from 'zod';
import type { ReplyHeaders, RequestInfo } from '../../api/endpoint.ts';
import { SHARE_SESSION_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { OpenShare } from './open-shares.sql.ts';
import { passwordGeneration, type ShareCookie } from './share-proof.ts';

type Link = Pick<OpenShare, 'uuid' | 'passwordHash'>;

/** `until` in milliseconds since the epoch; `password` identifies the password (passwordGeneration). */
const SealedSession = z.object({ id: z.string(), password: z.string(), until: z.int() });

/** Somebody who uses a link and has proved that they know its password. */
export interface ShareSession {
  /** A uuid. */
  readonly id: string;
}

/**
 * Sessions of people who use a link. In a session they send the password once, and see what they uploaded.
 *
 * Invariants:
 * - A session applies to one link and one password: a new password ends it.
 * - It is sealed under the tenant's data key, so that nobody can forge one. The server stores no session.
 */
export class ShareSessions {
  readonly #sealer: Sealer;
  readonly #cookie: ShareCookie;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;

  constructor(deps: { sealer: Sealer; sessionCookie: ShareCookie; clock: Clock; random: Random; tenantId: string }) {
    this.#sealer = deps.sealer;
    this.#cookie = deps.sessionCookie;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
  }

  /** Returns the session in the header or the cookie of the request. */
  find(share: Link, { headers }: RequestInfo): ShareSession | undefined {
    const texts = [headers['x-share-session'], this.#cookie.read(headers['cookie'])];
    for (const text of texts) {
      const session = text === undefined ? undefined : this.#open(share, text);
      if (session) return session;
    }
    return undefined;
  }

  begin(): ShareSession {
    return { id: this.#random.uuid() };
  }

  /** Returns the reply headers that give the client the session, for 24 hours from now. */
  headersOf(share: Link, token: string, { id }: ShareSession): ReplyHeaders {
    const until = this.#clock.now().getTime() + SHARE_SESSION_SECONDS * 1000;
    const session: z.output<typeof SealedSession> = { id, password: passwordGeneration(share), until };
    const text = this.#sealer.seal(JSON.stringify(session), this.#associatedData(share));
    return { 'x-share-session': text, 'set-cookie': this.#cookie.set(token, text) };
  }

  #open(share: Link, text: string): ShareSession | undefined {
    try {
      const { data } = SealedSession.safeParse(JSON.parse(this.#sealer.open(text, this.#associatedData(share))));
      const isValid = data && data.until > this.#clock.now().getTime() && data.password === passwordGeneration(share);
      return isValid ? { id: data.id } : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  #associatedData({ uuid }: Link): string[] {
    return [this.#tenantId, 'shares', uuid, 'session'];
  }
}
