import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { LaunchError } from '../launch-error.ts';
import type { Login } from '../login/login-state.ts';
import type { UnknownValues } from '../login/unknown-values.ts';
import { authorizedParty, type LaunchMessage, requireClaims, requireSignature, type UnverifiedToken } from './id-token.ts';
import { findRegistration, type Registration } from './launch.sql.ts';
import type { PlatformKeys } from './platform-keys.ts';

const REGISTRATIONS_MAX = 200;

/** The verified claims of a token, and the registration that they were verified against. */
export interface Verified {
  readonly registration: Registration;
  readonly message: LaunchMessage;
}

/**
 * Verifies id_tokens against registrations that this process caches, so that a launch needs no statement for that.
 *
 * Invariants:
 * - A cached registration refuses no token: before a refusal it is read again, and the token verified again if it has changed.
 * - A cached registration alone opens no launch: the statement that opens it compares the registration (`LaunchOpener`), and
 *   `verifyAnew` follows if it has changed.
 */
export class TokenVerifier {
  readonly #db: Database;
  readonly #keys: PlatformKeys;
  readonly #clock: Clock;
  readonly #origins: ReadonlySet<string>;
  readonly #unknown: UnknownValues;
  readonly #registrations = new LRUCache<number, Registration>({ max: REGISTRATIONS_MAX });

  /** `origins`: those of the tenant's app address and of its LTI address. */
  constructor(deps: { db: Database; keys: PlatformKeys; clock: Clock; origins: ReadonlySet<string>; unknown: UnknownValues }) {
    this.#db = deps.db;
    this.#keys = deps.keys;
    this.#clock = deps.clock;
    this.#origins = deps.origins;
    this.#unknown = deps.unknown;
  }

  /** Needs no statement for a token that the cached registration accepts, otherwise those of `verifyAnew`. Throws LaunchError. */
  async verify(token: UnverifiedToken, login: Login): Promise<Verified> {
    const registration = this.#registrations.get(login.toolId);
    if (!registration) return this.verifyAnew(token, login);
    const checked = await this.#check(token, login, registration);
    if (checked instanceof LaunchError) return this.verifyAnew(token, login, { registration, refusal: checked });
    return { registration, message: checked };
  }

  /**
   * Verifies against the current registration. One statement, and one more to record a foreign issuer or audience of a signed
   * token. Throws LaunchError.
   */
  async verifyAnew(
    token: UnverifiedToken,
    login: Login,
    before?: { readonly registration: Registration; readonly refusal: LaunchError },
  ): Promise<Verified> {
    const registration = await findRegistration(this.#db.tables, login.toolId);
    if (!registration) throw new LaunchError('registration_inactive');
    this.#registrations.set(login.toolId, registration);
    const isSame = before && isDeepStrictEqual(before.registration, registration);
    const checked = isSame ? before.refusal : await this.#check(token, login, registration);
    if (!(checked instanceof LaunchError)) return { registration, message: checked };
    const { iss, aud, azp } = token.claims;
    if (checked.code === 'issuer_mismatch') await this.#unknown.note(login.toolId, 'iss', String(iss), 'signed');
    if (checked.code === 'audience_mismatch')
      await this.#unknown.note(login.toolId, 'client_id', [aud].flat().join(' '), 'signed');
    // The party that a token was issued to is a client id.
    if (checked.code === 'azp_mismatch')
      await this.#unknown.note(login.toolId, 'client_id', authorizedParty(azp) ?? '', 'signed');
    throw checked;
  }

  async #check(token: UnverifiedToken, { nonce }: Login, registration: Registration): Promise<LaunchMessage | LaunchError> {
    const { issuer, clientId, jwksEndpoint } = registration;
    try {
      const claims = await requireSignature(token, this.#keys, jwksEndpoint);
      return requireClaims(claims, { issuer, clientId, nonce, origins: this.#origins, now: this.#clock.now() });
    } catch (error) {
      if (error instanceof LaunchError) return error;
      throw error;
    }
  }
}
