import { LOGIN_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { LaunchError } from '../launch-error.ts';

/**
 * Base64url of 32 bytes: it must fit varchar(255), and some LMSs cut longer ones. If the LMS offers platform storage, the name of
 * its frame follows in base64url: `/launch` needs it, and the server stores nothing.
 */
const STATE = /^[A-Za-z0-9_-]{43}(?:\.([A-Za-z0-9_-]{1,86}))?$/;
const FRAME_NAME_MAX_BYTES = 64;

/**
 * Maximum of open logins of one browser; another login ends the oldest. A course page may embed that many links. Bounds the
 * Cookie header: about 205 bytes each, and proxies accept 8 KiB.
 */
export const OPEN_LOGINS_MAX = 32;
/** The cookie that lists the open logins, sent to login initiation only; the logins' own cookies are sent to the launch only. */
const OPEN_LOGINS = 'carrel_lti_logins';

/** A login that was initiated and not yet answered. */
export interface Login {
  readonly toolId: number;
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
}

/** A frame and a key in the platform's storage (1EdTech LTI Platform Storage). */
export interface StorageSlot {
  /** `_parent`, or the name of a frame of the parent. */
  readonly frame: string;
  readonly key: string;
}

export interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly cookies: readonly string[];
  /** The value for the platform's storage, if the LMS offers it. */
  readonly put: (StorageSlot & { readonly value: string }) | undefined;
}

/** The values that must match the returned state: the browser's cookies, or the value from the platform's storage. */
export interface Bindings {
  readonly cookies: ReadonlyMap<string, string>;
  readonly stored?: string | undefined;
}

/**
 * The state of a login, sealed in a cookie of the browser that began it, and in the platform's storage if available. The server
 * stores nothing for logins that never become launches. Each login has its own cookie, so that several tabs and frames do not
 * overwrite each other's.
 */
export class LoginStates {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;
  /** Paths of the endpoints as the browser sees them. */
  readonly #paths: { readonly login: string; readonly launch: string };

  constructor(deps: {
    sealer: Sealer;
    clock: Clock;
    random: Random;
    tenantId: string;
    paths: { login: string; launch: string };
  }) {
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
    this.#paths = deps.paths;
  }

  /** `frame`: `lti_storage_target` of the login initiation. Throws LaunchError `storage_target_invalid`. */
  begin(toolId: number, cookies: ReadonlyMap<string, string>, frame: string | undefined): Begun {
    const state = this.#random.base64url(32) + (frame ? `.${frameCode(frame)}` : '');
    const login: Login = { toolId, nonce: this.#random.base64url(32), begunAt: this.#clock.now().getTime() };
    const sealed = (carrier: 'cookie' | 'storage'): string =>
      this.#sealer.seal(JSON.stringify(login), this.#associatedData(state, carrier));
    const open = openLogins(cookies.get(OPEN_LOGINS));
    const remaining = [...open, idOf(state)].slice(-OPEN_LOGINS_MAX);
    return {
      state,
      nonce: login.nonce,
      cookies: [
        this.#cookie(keyOf(state), sealed('cookie'), this.#paths.launch, LOGIN_SECONDS),
        this.#cookie(OPEN_LOGINS, remaining.join('.'), this.#paths.login, LOGIN_SECONDS),
        ...open.filter((id) => !remaining.includes(id)).map((id) => this.#cookie(keyOfId(id), '', this.#paths.launch, 0)),
      ],
      put: frame ? { frame, key: keyOf(state), value: sealed('storage') } : undefined,
    };
  }

  /**
   * Returns the login of this state, from the cookie or otherwise from the platform's storage. Throws LaunchError `state_…`,
   * `storage_forged`.
   */
  open(state: string | undefined, { cookies, stored }: Bindings): Login {
    const valid = requireState(state);
    const cookie = cookies.get(keyOf(valid));
    if (cookie === undefined && !stored) throw new LaunchError('state_not_bound');
    const login = cookie === undefined ? this.#opened(stored ?? '', valid, 'storage') : this.#opened(cookie, valid, 'cookie');
    if (this.#clock.now().getTime() > login.begunAt + LOGIN_SECONDS * 1000) throw new LaunchError('state_expired');
    return login;
  }

  /**
   * Returns the storage slot of the login, if this browser has no cookie for it and the LMS offered storage. Throws LaunchError
   * `state_…`.
   */
  storageOf(state: string | undefined, cookies: ReadonlyMap<string, string>): StorageSlot | undefined {
    const valid = requireState(state);
    const code = STATE.exec(valid)?.[1];
    if (code === undefined || cookies.has(keyOf(valid))) return undefined;
    return { frame: Buffer.from(code, 'base64url').toString('utf8'), key: keyOf(valid) };
  }

  /** Returns the Set-Cookie value that deletes the login's cookie. */
  ended(state: string): string {
    return this.#cookie(keyOf(state), '', this.#paths.launch, 0);
  }

  #opened(sealed: string, state: string, carrier: 'cookie' | 'storage'): Login {
    try {
      return JSON.parse(this.#sealer.open(sealed, this.#associatedData(state, carrier))) as Login;
    } catch (error) {
      if (error instanceof SealError)
        throw new LaunchError(carrier === 'cookie' ? 'state_forged' : 'storage_forged', undefined, { cause: error });
      throw error;
    }
  }

  #associatedData(state: string, carrier: 'cookie' | 'storage'): string[] {
    return [this.#tenantId, 'lti_login', sha256Hex(state), carrier];
  }

  /**
   * An LMS shows the launch in a frame: browsers send only `SameSite=None` cookies there, and only `Partitioned` ones if they
   * block third-party cookies.
   */
  #cookie(name: string, value: string, path: string, seconds: number): string {
    return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; Secure; SameSite=None; Partitioned`;
  }
}

function requireState(state: string | undefined): string {
  if (state === undefined || state === '') throw new LaunchError('state_missing');
  if (!STATE.test(state)) throw new LaunchError('state_malformed');
  return state;
}

function frameCode(frame: string): string {
  const bytes = Buffer.from(frame, 'utf8');
  if (bytes.length > FRAME_NAME_MAX_BYTES || /\p{Cc}/u.test(frame)) throw new LaunchError('storage_target_invalid');
  return bytes.toString('base64url');
}

/** Name of the cookie, and key in the platform's storage. */
const keyOf = (state: string): string => keyOfId(idOf(state));
const keyOfId = (id: string): string => `carrel_lti_${id}`;
const idOf = (state: string): string => sha256Hex(state).slice(0, 16);

/** Returns the ids, the oldest first; bounded again, since a browser may send any cookie. */
const openLogins = (cookie: string | undefined): string[] =>
  (cookie ?? '')
    .split('.')
    .filter((id) => /^[0-9a-f]{16}$/.test(id))
    .slice(-OPEN_LOGINS_MAX);
