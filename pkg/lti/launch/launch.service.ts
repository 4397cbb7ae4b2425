import type { JWTPayload } from 'jose';
import { LAUNCH_SECONDS } from '../../api/lifetimes.ts';
import { capped } from '../../api/actor.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor } from '../../store/postgres/database.ts';
import { ForeignKeyViolation } from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Courses } from './courses.ts';
import { type Expected, type LaunchMessage, requireClaims, requireSignature, unprovenClaims } from './id-token.ts';
import { findKnown, type Known, type NewLaunch, openLaunch, requireUnused } from './launch.sql.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Login, LoginStates } from '../login/login-state.ts';
import type { People, Person } from './people.ts';
import type { PlatformKeys } from './platform-keys.ts';
import { LaunchError } from '../launch-error.ts';
import { activeOfIssuer } from '../login/active-registrations.sql.ts';
import { roleOf } from './roles.policy.ts';
import type { Question } from '../pages/storage-pages.ts';
import { noteUnknownDeployment } from './unknown-deployments.sql.ts';
import type { UnknownValues } from '../login/unknown-values.ts';
import { refusalOfReplay } from './used-launch.sql.ts';

/** The form that the LMS has the browser post (docs/design/lti.md, A launch; OAuth 2.0 §4.1.2.1 for the error). */
export interface AuthenticationResponse {
  readonly state: string | undefined;
  readonly idToken: string | undefined;
  readonly error: string | undefined;
  readonly cookies: ReadonlyMap<string, string>;
  /** What the platform's storage kept, where the browser had no cookie. */
  readonly stored?: string | undefined;
}

export interface Launched {
  /** `{tool_url}/lti/entry?token=…` */
  readonly location: string;
  /** Ends the login's cookie. */
  readonly cookie: string;
}

/**
 * The launch: from the platform's answer to a session of ours.
 *
 * Invariants:
 * - A refused launch leaves no session, no user and no course.
 * - State and nonce are used once, however many posts race: the unique insert of the launch's row decides, in the statement that opens the
 *   session; whoever comes second has nothing of theirs kept.
 * - The session and its token hold what account and launch both give, and never `admin` (`capped`): whoever controls the LMS is no administrator here.
 * - Warm it costs two statements, no transaction and no request to anybody.
 */
export class Launches {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #states: LoginStates;
  readonly #keys: PlatformKeys;
  readonly #people: People;
  readonly #courses: Courses;
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
    people: People;
    courses: Courses;
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
    this.#people = deps.people;
    this.#courses = deps.courses;
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#origins = deps.origins;
    this.#unknown = deps.unknown;
  }

  /**
   * Whom to ask for the login, where this browser has no cookie of it and the LMS offered its storage; undefined: go on to `launch`.
   * The LMS is the one that the token names, proved or not: nothing but its registered origin rests on that. One statement. Throws LaunchError.
   */
  async question(response: AuthenticationResponse): Promise<Question | undefined> {
    const place = this.#states.storageOf(response.state, response.cookies);
    if (!place) return undefined;
    if (response.error !== undefined) throw new LaunchError('platform_error');
    const { issuer } = unprovenClaims(response.idToken);
    const registrations = await activeOfIssuer(this.#db, issuer);
    const [first] = registrations;
    if (!first) throw new LaunchError('issuer_unknown');
    return {
      ...place,
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
    const idToken = response.idToken ?? '';
    const { known, message } = await this.#proved(idToken, login);

    const launch = this.#newLaunch(state, idToken, login, message);
    const person = await this.#open(known, launch).catch(goneMeanwhile);
    const { launchId, sessionId } = launch;
    const { roles } = capped(person.roles, [roleOf(message.roles)]);
    const token = await this.#tokens.issue({ userUuid: person.uuid, sessionId, roles, launchId }, LAUNCH_SECONDS);
    return { location: `${known.toolUrl.replace(/\/+$/, '')}/lti/entry?token=${token}`, cookie: this.#states.ended(state) };
  }

  /**
   * What is known, and what the token says once all of it is proved. One statement, by claims that nothing rests on before;
   * a deployment that is not listed costs one more.
   */
  async #proved(idToken: string, login: Login): Promise<{ known: Known; message: LaunchMessage }> {
    const known = await findKnown(this.#db.tables, login.toolId, unprovenClaims(idToken));
    if (!known?.isActive) throw new LaunchError('registration_inactive');
    const claims = await requireSignature(idToken, this.#keys, known.jwksEndpoint);
    const { issuer, clientId } = known;
    const expected = { issuer, clientId, nonce: login.nonce, origins: this.#origins, now: this.#clock.now() };
    const message = await this.#agreed(known.toolId, claims, expected);
    if (!known.isDeployed) {
      await noteUnknownDeployment(this.#db.tables, known.toolId, message.deploymentId);
      throw new LaunchError('unknown_deployment', `Its id is ${message.deploymentId}; add it to deploymentIds of the registration.`);
    }
    return { known, message };
  }

  /** A signed message that names another issuer or audience than is registered is noted: one statement. */
  async #agreed(toolId: number, claims: JWTPayload, expected: Expected): Promise<LaunchMessage> {
    try {
      return requireClaims(claims, expected);
    } catch (error) {
      const code = error instanceof LaunchError ? error.code : undefined;
      if (code === 'issuer_mismatch') await this.#unknown.note(toolId, 'iss', String(claims.iss), 'signed');
      if (code === 'audience_mismatch') await this.#unknown.note(toolId, 'client_id', [claims.aud].flat().join(' '), 'signed');
      throw error;
    }
  }

  #newLaunch(state: string, idToken: string, login: Login, message: LaunchMessage): NewLaunch {
    const launchedAt = this.#clock.now();
    return {
      launchId: this.#random.uuid(),
      sessionId: this.#random.uuid(),
      state: sha256Hex(state),
      nonce: sha256Hex(login.nonce),
      idToken,
      message,
      launchedAt,
      expiresAt: new Date(launchedAt.getTime() + LAUNCH_SECONDS * 1000),
    };
  }

  /** A person and course that stand need no transaction: the one statement is one. */
  async #open(known: Known, launch: NewLaunch): Promise<Person> {
    const { message } = launch;
    const standing = this.#people.standing(known, message);
    const open = async (sql: Executor, person: Person): Promise<Person> => {
      const outcome = await openLaunch(sql, known, person.id, launch);
      if (outcome === 'used') throw new LaunchError('launch_used');
      if (outcome === 'inactive') throw new LaunchError('user_inactive');
      return person;
    };
    if (standing && this.#courses.stands(known, message)) return open(this.#db.tables, standing);
    return this.#cache.transaction(this.#db, async (tx) => {
      await requireUnused(tx, known, launch);
      const person = standing ?? (await this.#people.settle(tx, known, message));
      await this.#courses.settle(tx, known, person, message);
      return open(tx, person);
    });
  }
}

/** What was looked up before has been deleted since. */
function goneMeanwhile(error: unknown): never {
  if (!(error instanceof ForeignKeyViolation)) throw error;
  throw new LaunchError(error.table === 'lti_launches' ? 'registration_inactive' : 'user_inactive', undefined, { cause: error });
}
