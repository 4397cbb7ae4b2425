import { LOGIN_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { LaunchError } from '../launch-error.ts';

/**
 * Base64url of 32 bytes: it must fit varchar(255), and LMSs have been seen to cut longer ones.
 * Where the LMS offers platform storage, the name of its frame follows in base64url: `/launch` must know whom to ask, and nobody has kept it.
 */
const STATE = /^[A-Za-z0-9_-]{43}(?:\.([A-Za-z0-9_-]{1,86}))?$/;
const FRAME_NAME_MAX_BYTES = 64;

/** So many logins of one browser are open at once; one more ends the oldest. Bounds the Cookie header: about 200 bytes each. */
export const OPEN_LOGINS_MAX = 16;
/** Which they are, for login initiation alone: the cookies themselves go to the launch only. */
const OPEN_LOGINS = 'carrel_lti_logins';

/** What was begun at login initiation. */
export interface Login {
  readonly toolId: number;
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
}

/** What is put into, and asked of, the platform's frame (1EdTech LTI Platform Storage). */
export interface StoragePlace {
  /** `_parent`, or the name of a frame of the parent's. */
  readonly frame: string;
  readonly key: string;
}

export interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly cookies: readonly string[];
  /** For platform storage, where the LMS offers it. */
  readonly put: (StoragePlace & { readonly value: string }) | undefined;
}

/** What came back with the state: the browser's cookies, and what the platform's frame gave. */
export interface Bindings {
  readonly cookies: ReadonlyMap<string, string>;
  readonly stored?: string | undefined;
}

/**
 * The state of a login, sealed in a cookie of the browser that began it, and in the platform's storage where there is one; nothing is
 * kept here for launches that never come. Each login has a cookie of its own, so that several tabs and frames do not take each other's away.
 */
export class LoginStates {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tenantId: string;
  /** Of the end points as the browser sees them. */
  readonly #paths: { readonly login: string; readonly launch: string };

  constructor(deps: { sealer: Sealer; clock: Clock; random: Random; tenantId: string; paths: { login: string; launch: string } }) {
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
    const sealed = (way: 'cookie' | 'storage'): string => this.#sealer.seal(JSON.stringify(login), this.#associatedData(state, way));
    const open = openLogins(cookies.get(OPEN_LOGINS));
    const kept = [...open, idOf(state)].slice(-OPEN_LOGINS_MAX);
    return {
      state,
      nonce: login.nonce,
      cookies: [
        this.#cookie(keyOf(state), sealed('cookie'), this.#paths.launch, LOGIN_SECONDS),
        this.#cookie(OPEN_LOGINS, kept.join('.'), this.#paths.login, LOGIN_SECONDS),
        ...open.filter((id) => !kept.includes(id)).map((id) => this.#cookie(keyOfId(id), '', this.#paths.launch, 0)),
      ],
      put: frame ? { frame, key: keyOf(state), value: sealed('storage') } : undefined,
    };
  }

  /** The login of this state: the cookie says so, else what the platform kept. Throws LaunchError `state_…`, `storage_forged`. */
  open(state: string | undefined, { cookies, stored }: Bindings): Login {
    const known = requireState(state);
    const cookie = cookies.get(keyOf(known));
    if (cookie === undefined && !stored) throw new LaunchError('state_not_bound');
    const login = cookie === undefined ? this.#opened(stored ?? '', known, 'storage') : this.#opened(cookie, known, 'cookie');
    if (this.#clock.now().getTime() > login.begunAt + LOGIN_SECONDS * 1000) throw new LaunchError('state_expired');
    return login;
  }

  /** Where to ask for the login, when this browser has no cookie of it and the LMS offered storage. Throws LaunchError `state_…`. */
  storageOf(state: string | undefined, cookies: ReadonlyMap<string, string>): StoragePlace | undefined {
    const known = requireState(state);
    const code = STATE.exec(known)?.[1];
    if (code === undefined || cookies.has(keyOf(known))) return undefined;
    return { frame: Buffer.from(code, 'base64url').toString('utf8'), key: keyOf(known) };
  }

  /** Takes the cookie away. */
  ended(state: string): string {
    return this.#cookie(keyOf(state), '', this.#paths.launch, 0);
  }

  #opened(sealed: string, state: string, way: 'cookie' | 'storage'): Login {
    try {
      return JSON.parse(this.#sealer.open(sealed, this.#associatedData(state, way))) as Login;
    } catch (error) {
      if (error instanceof SealError)
        throw new LaunchError(way === 'cookie' ? 'state_forged' : 'storage_forged', undefined, { cause: error });
      throw error;
    }
  }

  #associatedData(state: string, way: 'cookie' | 'storage'): string[] {
    return [this.#tenantId, 'lti_login', sha256Hex(state), way];
  }

  /** An LMS shows the launch in a frame: only `SameSite=None` is sent there, and only `Partitioned` where third-party cookies are blocked. */
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

/** The oldest first. What a browser sends is anybody's, so it is bounded again. */
const openLogins = (cookie: string | undefined): string[] =>
  (cookie ?? '')
    .split('.')
    .filter((id) => /^[0-9a-f]{16}$/.test(id))
    .slice(-OPEN_LOGINS_MAX);
