import type { JWTPayload } from 'jose';
import { LAUNCH_SECONDS } from '../../api/lifetimes.ts';
import { capped } from '../../api/actor.ts';
import type { SessionOrigin } from '../../access/sessions.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { CourseSync } from './course-sync.ts';
import {
  type Expected,
  type LaunchMessage,
  requireClaims,
  requireSignature,
  unverifiedSelection,
  type UnverifiedToken,
  unverifiedToken,
} from './id-token.ts';
import { findLaunchContext, type LaunchContext, type NewLaunch, openLaunch, requireUnused } from './launch.sql.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Login, LoginStates } from '../login/login-state.ts';
import type { SyncedUser, UserSync } from './user-sync.ts';
import type { PlatformKeys } from './platform-keys.ts';
import { LaunchError } from '../launch-error.ts';
import { activeOfIssuer } from '../login/active-registrations.sql.ts';
import { roleOf } from './roles.policy.ts';
import type { StorageRequest } from '../pages/storage-pages.ts';
import { noteUnknownDeployment } from './unknown-deployments.sql.ts';
import type { UnknownValues } from '../login/unknown-values.ts';
import { refusalOfReplay } from './replayed-launch.sql.ts';

/** The form that the browser posts for the LMS (docs/design/lti.md, A launch; OAuth 2.0 §4.1.2.1 for the error). */
export interface AuthenticationResponse {
  readonly state: string | undefined;
  readonly idToken: string | undefined;
  readonly error: string | undefined;
  readonly cookies: ReadonlyMap<string, string>;
  readonly from: SessionOrigin;
  /** The value from the platform's storage, if the browser had no cookie. */
  readonly stored?: string | undefined;
}

export interface Launched {
  /** `{tool_url}/lti/entry?token=…` */
  readonly location: string;
  /** Deletes the login's cookie. */
  readonly cookie: string;
}

/**
 * The launch: verifies the platform's authentication response and opens a session.
 *
 * Invariants:
 * - A refused launch leaves no session, no user and no course.
 * - State and nonce are used once, however many posts race: the statement that opens the session inserts the launch's row, which is unique. The
 *   others leave nothing behind.
 * - The session and its token have the roles that both the account and the launch give, and never `admin` (`capped`): control of the LMS must not
 *   make anybody an administrator.
 * - A launch that changes nothing costs two statements, no transaction and no request to the LMS.
 */
export class Launches {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #states: LoginStates;
  readonly #keys: PlatformKeys;
  readonly #users: UserSync;
  readonly #courses: CourseSync;
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #origins: ReadonlySet<string>;
  readonly #unknown: UnknownValues;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    states: LoginStates;
    keys: PlatformKeys;
    users: UserSync;
    courses: CourseSync;
    tokens: Tokens;
    clock: Clock;
    random: Random;
    origins: ReadonlySet<string>;
    unknown: UnknownValues;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#states = deps.states;
    this.#keys = deps.keys;
    this.#users = deps.users;
    this.#courses = deps.courses;
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#origins = deps.origins;
    this.#unknown = deps.unknown;
  }

  /**
   * The request to the platform's storage, if this browser has no login cookie and the LMS offered its storage; undefined: call `launch`.
   * Reads the issuer from the unverified token: it selects only which registered origin is asked. One statement. Throws LaunchError.
   */
  async storageRequest(response: AuthenticationResponse): Promise<StorageRequest | undefined> {
    const slot = this.#states.storageOf(response.state, response.cookies);
    if (!slot) return undefined;
    if (response.error !== undefined) throw new LaunchError('platform_error');
    const { issuer } = unverifiedSelection(unverifiedToken(response.idToken));
    const registrations = await activeOfIssuer(this.#db, issuer);
    const [first] = registrations;
    if (!first) throw new LaunchError('issuer_unknown');
    return {
      ...slot,
      origin: new URL(first.authEndpoint).origin,
      toolUrls: registrations.map(({ toolUrl }) => toolUrl),
      state: response.state ?? '',
      idToken: response.idToken ?? '',
    };
  }

  /** Throws LaunchError. */
  async launch(response: AuthenticationResponse): Promise<Launched> {
    try {
      return await this.#launch(response);
    } catch (error) {
      throw await refusalOfReplay(this.#db.tables, response, error);
    }
  }

  async #launch(response: AuthenticationResponse): Promise<Launched> {
    const state = response.state ?? '';
    const login = this.#states.open(response.state, response);
    if (response.error !== undefined) throw new LaunchError('platform_error', `It said: ${response.error.slice(0, 100)}.`);
    const token = unverifiedToken(response.idToken);
    const { context, message } = await this.#verify(token, login);

    const launch = this.#newLaunch(response, token.text, login, message);
    const user = await this.#open(context, launch).catch(deletedMeanwhile);
    const { launchId, sessionId } = launch;
    const { roles } = capped(user.roles, [roleOf(message.roles)]);
    const entryToken = this.#tokens.issue({ userUuid: user.uuid, sessionId, roles, launchId }, LAUNCH_SECONDS);
    const toolUrl = context.registration.toolUrl.replace(/\/+$/, '');
    return { location: `${toolUrl}/lti/entry?token=${entryToken}`, cookie: this.#states.ended(state) };
  }

  /**
   * Looks up the launch's context by the unverified claims, then verifies the token that they are of.
   * One statement, and one more if the deployment is not listed.
   */
  async #verify(token: UnverifiedToken, login: Login): Promise<{ context: LaunchContext; message: LaunchMessage }> {
    const context = await findLaunchContext(this.#db.tables, login.toolId, unverifiedSelection(token));
    if (!context?.registration.isActive) throw new LaunchError('registration_inactive');
    const { toolId, issuer, clientId, jwksEndpoint, isDeployed } = context.registration;
    const claims = await requireSignature(token, this.#keys, jwksEndpoint);
    const expected = { issuer, clientId, nonce: login.nonce, origins: this.#origins, now: this.#clock.now() };
    const message = await this.#messageOf(toolId, claims, expected);
    if (!isDeployed) {
      await noteUnknownDeployment(this.#db.tables, toolId, message.deploymentId);
      throw new LaunchError('unknown_deployment', `Its id is ${message.deploymentId}; add it to deploymentIds of the registration.`);
    }
    return { context, message };
  }

  /** Checks the claims. Notes the issuer or audience of a signed message if it is not the registered one: one statement. */
  async #messageOf(toolId: number, claims: JWTPayload, expected: Expected): Promise<LaunchMessage> {
    try {
      return requireClaims(claims, expected);
    } catch (error) {
      const code = error instanceof LaunchError ? error.code : undefined;
      if (code === 'issuer_mismatch') await this.#unknown.note(toolId, 'iss', String(claims.iss), 'signed');
      if (code === 'audience_mismatch') await this.#unknown.note(toolId, 'client_id', [claims.aud].flat().join(' '), 'signed');
      throw error;
    }
  }

  #newLaunch({ state = '', from }: AuthenticationResponse, idToken: string, login: Login, message: LaunchMessage): NewLaunch {
    const launchedAt = this.#clock.now();
    return {
      launchId: this.#random.uuid(),
      sessionId: this.#random.uuid(),
      state: sha256Hex(state),
      nonce: sha256Hex(login.nonce),
      idToken,
      message,
      from,
      launchedAt,
      expiresAt: new Date(launchedAt.getTime() + LAUNCH_SECONDS * 1000),
    };
  }

  /** No transaction if user and course are unchanged: the launch is then one statement. */
  async #open(context: LaunchContext, launch: NewLaunch): Promise<SyncedUser> {
    const { message } = launch;
    const unchanged = this.#users.unchanged(context, message);
    const open = async (sql: Executor, user: SyncedUser): Promise<SyncedUser> => {
      const outcome = await openLaunch(sql, context.registration, user.id, launch);
      if (outcome === 'used') throw new LaunchError('launch_used');
      if (outcome === 'inactive') throw new LaunchError('user_inactive');
      return user;
    };
    if (unchanged && this.#courses.isUnchanged(context, message)) return open(this.#db.tables, unchanged);
    return this.#cache.transaction(this.#db, async (tx) => {
      await requireUnused(tx, context.registration, launch);
      const user = unchanged ?? (await this.#users.sync(tx, context, message));
      await this.#courses.sync(tx, context, user, message);
      return open(tx, user);
    });
  }
}

/** A row of the launch context was deleted after it was read. */
function deletedMeanwhile(error: unknown): never {
  if (!(error instanceof ForeignKeyViolation)) throw error;
  throw new LaunchError(error.table === 'lti_launches' ? 'registration_inactive' : 'user_inactive', undefined, { cause: error });
}
