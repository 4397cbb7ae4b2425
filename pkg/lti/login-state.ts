import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { SealError, type Sealer } from '../runtime/sealing.ts';
import { LtiRefusal } from './refusal.ts';

/** From login initiation to launch: time enough to sign in at the LMS. */
export const LOGIN_SECONDS = 600;

/** Base64url of 32 bytes: it must fit varchar(255), and LMSs have been seen to cut longer ones. */
const STATE = /^[A-Za-z0-9_-]{43}$/;

/** What was begun at login initiation. */
export interface Login {
  readonly toolId: number;
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
}

/** Hex SHA-256: how state and nonce are kept, 64 characters. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The state of a login, sealed in a cookie of the browser that began it; nothing is stored for launches that never come.
 * Each login has a cookie of its own, so that several tabs and frames do not take each other's away.
 */
export class LoginStates {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;
  /** Path of the launch end point as the browser sees it. */
  readonly #path: string;

  constructor(deps: { sealer: Sealer; clock: Clock; random: Random; tenantId: string; path: string }) {
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
    this.#path = deps.path;
  }

  begin(toolId: number): { state: string; nonce: string; cookie: string } {
    const state = this.#random.base64url(32);
    const login: Login = { toolId, nonce: this.#random.base64url(32), begunAt: this.#clock.now().getTime() };
    const sealed = this.#sealer.seal(JSON.stringify(login), this.#place(state));
    return { state, nonce: login.nonce, cookie: this.#cookie(state, sealed, LOGIN_SECONDS) };
  }

  /** The login of this state, if this browser began it. Throws LtiRefusal `state_…`. */
  open(state: string | undefined, cookies: ReadonlyMap<string, string>): Login {
    if (state === undefined || state === '') throw new LtiRefusal('state_missing');
    if (!STATE.test(state)) throw new LtiRefusal('state_malformed');
    const sealed = cookies.get(cookieName(state));
    if (sealed === undefined) throw new LtiRefusal('state_not_bound');
    const login = this.#opened(sealed, state);
    if (this.#clock.now().getTime() > login.begunAt + LOGIN_SECONDS * 1000) throw new LtiRefusal('state_expired');
    return login;
  }

  /** Takes the cookie away. */
  ended(state: string): string {
    return this.#cookie(state, '', 0);
  }

  #opened(sealed: string, state: string): Login {
    try {
      return JSON.parse(this.#sealer.open(sealed, this.#place(state))) as Login;
    } catch (error) {
      if (error instanceof SealError) throw new LtiRefusal('state_forged', undefined, { cause: error });
      throw error;
    }
  }

  #place(state: string): string[] {
    return [this.#tenantId, 'lti_login', hashOf(state), 'cookie'];
  }

  /** An LMS shows the launch in a frame: only `SameSite=None` is sent there, and only `Partitioned` where third-party cookies are blocked. */
  #cookie(state: string, value: string, seconds: number): string {
    return `${cookieName(state)}=${value}; Path=${this.#path}; Max-Age=${seconds}; HttpOnly; Secure; SameSite=None; Partitioned`;
  }
}

const cookieName = (state: string): string => `carrel_lti_${hashOf(state).slice(0, 16)}`;
