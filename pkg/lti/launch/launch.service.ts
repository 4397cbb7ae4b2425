import { LAUNCH_SECONDS } from '../../api/lifetimes.ts';
import { capped } from '../../api/role-permissions.ts';
import type { SessionOrigin } from '../../access/sessions.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import { asSystem, currentRequestId } from '../../store/postgres/origin.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { LinkSync } from '../links/link-sync.ts';
import type { HandlerRequests } from '../notices/handler-requests.ts';
import type { CourseSync } from './course-sync.ts';
import { type UnverifiedToken, unverifiedToken } from './id-token.ts';
import { type LaunchContext, type NewLaunch, openLaunch, type Outcome, requireUnused } from './launch.sql.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Login, LoginStates } from '../login/login-state.ts';
import { profileIn } from './profile.ts';
import type { SyncedUser, UserSync } from './user-sync.ts';
import type { TokenVerifier, Verified } from './token-verifier.ts';
import type { RosterRequests } from '../members/roster-requests.ts';
import type { LaunchOpener } from './launch-opener.ts';
import { LaunchError } from '../launch-error.ts';
import { likelyRegistrations } from '../login/likely-registrations.ts';
import { roleOf } from './launch-roles.policy.ts';
import type { StorageRequest } from '../pages/storage-pages.ts';
import { refusalOfDeployment } from './deployment-refusal.ts';
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
  /** `{tool_url}/lti/entry?token=…`, or `/lti/picker` for a deep linking request. */
  readonly location: string;
  /** Deletes the login's cookie. */
  readonly cookie: string;
}

/** An open launch and its user. */
interface Opened {
  readonly launch: NewLaunch;
  readonly toolUrl: string;
  readonly user: SyncedUser;
  readonly isRosterOld: boolean;
}

/**
 * The launch: verifies the platform's authentication response and opens a session.
 *
 * Invariants:
 * - A refused launch leaves no session, no user and no course.
 * - State and nonce are used once, even if several posts race: the statement that opens the session inserts the launch's row,
 *   which is unique. The others leave nothing behind.
 * - The session and its token have the roles that both the account and the launch grant, and never `admin` (`capped`): control of
 *   the LMS must not make anyone an administrator.
 * - No launch opens through a registration that has changed: the statement that opens it compares the values that the token was
 *   verified against.
 * - A launch that changes nothing costs one statement, no transaction and no request to the LMS. One launch per day requests the
 *   course's roster, as a job.
 */
export class Launches {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #states: LoginStates;
  readonly #verifier: TokenVerifier;
  readonly #opener: LaunchOpener;
  readonly #users: UserSync;
  readonly #courses: CourseSync;
  readonly #links: LinkSync;
  readonly #handlers: HandlerRequests;
  readonly #rosters: RosterRequests;
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    states: LoginStates;
    verifier: TokenVerifier;
    opener: LaunchOpener;
    users: UserSync;
    courses: CourseSync;
    links: LinkSync;
    handlers: HandlerRequests;
    rosters: RosterRequests;
    tokens: Tokens;
    clock: Clock;
    random: Random;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#states = deps.states;
    this.#verifier = deps.verifier;
    this.#opener = deps.opener;
    this.#users = deps.users;
    this.#courses = deps.courses;
    this.#links = deps.links;
    this.#handlers = deps.handlers;
    this.#rosters = deps.rosters;
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /**
   * Returns the request to the platform's storage, if this browser has no login cookie and the LMS offered its storage;
   * undefined: call `launch`. Reads issuer, audience and deployment from the unverified token: they only select the registered
   * origin to ask. One statement. Throws LaunchError.
   */
  async storageRequest(response: AuthenticationResponse): Promise<StorageRequest | undefined> {
    const slot = this.#states.storageOf(response.state, response.cookies);
    if (!slot) return undefined;
    if (response.error !== undefined) throw new LaunchError('platform_error');
    const registrations = await likelyRegistrations(this.#db, unverifiedToken(response.idToken));
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
      const refusal = await refusalOfReplay(this.#db.tables, response, error);
      throw refusal instanceof LaunchError && refusal.code === 'state_not_bound'
        ? await this.#withLms(refusal, response)
        : refusal;
    }
  }

  /**
   * Adds the LMS where the person can start again: the registered origin of the LMS that the token names. No other address of the
   * unverified token is used.
   */
  async #withLms(refusal: LaunchError, { idToken }: AuthenticationResponse): Promise<LaunchError> {
    let token: UnverifiedToken;
    try {
      token = unverifiedToken(idToken);
    } catch {
      return refusal;
    }
    const [registered] = await likelyRegistrations(this.#db, token);
    return registered
      ? new LaunchError(refusal.code, undefined, { cause: refusal, lms: `${new URL(registered.authEndpoint).origin}/` })
      : refusal;
  }

  async #launch(response: AuthenticationResponse): Promise<Launched> {
    const state = response.state ?? '';
    const login = this.#states.open(response.state, response);
    if (response.error !== undefined) throw new LaunchError('platform_error', `It said: ${response.error.slice(0, 100)}.`);
    const token = unverifiedToken(response.idToken);
    const { launch, toolUrl, user, isRosterOld } = await this.#opened(response, token, login).catch(deletedMeanwhile);
    if (isRosterOld) await this.#rosters.request(launch);

    const { launchId, sessionId, message } = launch;
    const { roles } = capped(user.roles, [roleOf(message.roles)]);
    const entryToken = this.#tokens.issue({ userUuid: user.uuid, sessionId, roles, launchId }, LAUNCH_SECONDS);
    const page = message.deepLinking ? 'picker' : 'entry';
    return { location: `${toolUrl.replace(/\/+$/, '')}/lti/${page}?token=${entryToken}`, cookie: this.#states.ended(state) };
  }

  /** Verifies the token and opens the launch; `isAnew`: the registration has changed since it was read. */
  async #opened(response: AuthenticationResponse, token: UnverifiedToken, login: Login, isAnew = false): Promise<Opened> {
    const { registration, message } = isAnew
      ? await this.#verifier.verifyAnew(token, login)
      : await this.#verifier.verify(token, login);
    const launch = this.#newLaunch(response, token.text, login, { registration, message });
    const found = await this.#opener.open(launch);
    // A registration that changes twice while one launch is verified counts as inactive.
    if (!found?.context.registration.isActive || (isAnew && !found.context.registration.isCurrent))
      throw new LaunchError('registration_inactive');
    const { context, outcome } = found;
    const { toolUrl, isCurrent, isDeployed, deploymentPolicy } = context.registration;
    if (!isCurrent) return this.#opened(response, token, login, true);
    if (!isDeployed) throw await refusalOfDeployment(this.#db, { ...registration, deploymentPolicy }, message.deploymentId);
    if (outcome) requireOpened(outcome);
    const user = outcome && context.user ? context.user : await this.#openChanged(context, launch);
    return { launch, toolUrl, user, isRosterOld: context.isRosterOld };
  }

  #newLaunch(
    { state = '', from }: AuthenticationResponse,
    idToken: string,
    login: Login,
    { registration, message }: Verified,
  ): NewLaunch {
    const launchedAt = this.#clock.now();
    return {
      launchId: this.#random.uuid(),
      sessionId: this.#random.uuid(),
      state: sha256Hex(state),
      nonce: sha256Hex(login.nonce),
      idToken,
      registration,
      message,
      profile: profileIn(message),
      from,
      requestId: currentRequestId(),
      launchedAt,
      expiresAt: new Date(launchedAt.getTime() + LAUNCH_SECONDS * 1000),
    };
  }

  /** Syncs user, course and link, and opens the launch, in one transaction. */
  #openChanged(context: LaunchContext, launch: NewLaunch): Promise<SyncedUser> {
    const { isUserUnchanged } = context;
    if (context.user?.isActive === false) throw new LaunchError('user_inactive');
    const sync = async (tx: Tx): Promise<SyncedUser> => {
      await requireUnused(tx, launch);
      const user = isUserUnchanged && context.user ? context.user : await this.#users.sync(tx, context, launch);
      await this.#courses.sync(tx, context, user, launch);
      await this.#links.sync(tx, context, user, launch);
      await this.#handlers.sync(tx, context, launch);
      requireOpened(await openLaunch(tx, user.id, launch));
      return user;
    };
    // Nobody is signed in yet: Carrel creates people and courses from the LMS's claims.
    return asSystem(() => this.#cache.transaction(this.#db, sync));
  }
}

function requireOpened(outcome: Outcome): void {
  if (outcome === 'used') throw new LaunchError('launch_used');
  if (outcome === 'inactive') throw new LaunchError('user_inactive');
}

/** A row of the launch context was deleted after it was read. */
function deletedMeanwhile(error: unknown): never {
  if (!(error instanceof ForeignKeyViolation)) throw error;
  throw new LaunchError(error.table === 'lti_launches' ? 'registration_inactive' : 'user_inactive', undefined, { cause: error });
}
