import { z } from 'zod';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { audiencesOf, LTI, requireSignature, storable, type UnverifiedToken, unverifiedToken } from '../launch/id-token.ts';
import type { PlatformKeys } from '../launch/platform-keys.ts';
import { refusalOfDeployment } from '../launch/deployment-refusal.ts';
import { LaunchError } from '../launch-error.ts';
import { type Notice, requireNotice } from './notice.policy.ts';
import { type NoticeRegistration, registrationsOf, storeNotices, type VerifiedNotice } from './notices.sql.ts';

const Body = z.object({
  notices: z
    .array(z.object({ jwt: z.string() }))
    .min(1)
    .max(100),
});

/** The results of notices that were posted together. */
export interface Received {
  readonly accepted: number;
  /** Refused notices, each with its index in the list. */
  readonly refused: readonly { readonly notice: number; readonly error: string; readonly message: string }[];
}

/**
 * Receives notices of platforms (Platform Notification Service 1.0).
 *
 * Invariants:
 * - A notice has no effect before its signature, its parties and its deployment are verified, as those of an id_token are.
 * - A notice counts once, even if it is sent several times: its id is unique within its registration.
 * - Platforms do not send again, so one statement stores every valid notice, even if others in the same post are invalid. A job
 *   carries it out.
 */
export class Notices {
  readonly #db: Database;
  readonly #keys: PlatformKeys;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;

  constructor(deps: { db: Database; keys: PlatformKeys; jobs: JobRequests; clock: Clock }) {
    this.#db = deps.db;
    this.#keys = deps.keys;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
  }

  /** Takes two statements. If no notice is accepted, throws the first one's LaunchError. */
  async receive(body: unknown): Promise<Received> {
    const posted = Body.safeParse(body);
    if (!posted.success) throw new LaunchError('notices_invalid');
    const tokens = posted.data.notices.map(({ jwt }) => orRefusal(() => unverifiedToken(jwt)));
    const registrations = await this.#registrations(tokens.filter(isNoRefusal));
    const judged = await Promise.all(
      tokens.map((token) => (token instanceof LaunchError ? Promise.resolve(token) : this.#verified(token, registrations))),
    );
    const valid = judged.filter(isNoRefusal);
    const [first] = judged;
    if (valid.length === 0 && first instanceof LaunchError) throw first;
    await storeNotices(this.#db.tables, valid);
    this.#jobs.notify();
    const refused = judged.flatMap((one, notice) =>
      one instanceof LaunchError ? [{ notice, error: one.code, message: one.message }] : [],
    );
    return { accepted: valid.length, refused };
  }

  #registrations(tokens: readonly UnverifiedToken[]): Promise<NoticeRegistration[]> {
    const issuers = new Set(tokens.map(({ claims }) => storable(claims.iss, 500)));
    const clientIds = new Set(tokens.flatMap(({ claims }) => audiencesOf(claims.aud)));
    return registrationsOf(this.#db.tables, [...issuers], [...clientIds]);
  }

  async #verified(token: UnverifiedToken, registrations: readonly NoticeRegistration[]): Promise<VerifiedNotice | LaunchError> {
    try {
      const { iss, aud } = token.claims;
      const sameIssuer = registrations.filter(({ issuer }) => issuer === iss);
      const sameClient = sameIssuer.filter(({ clientId }) => audiencesOf(aud).includes(clientId));
      const registration = sameClient.length > 1 ? withDeployment(sameClient, token) : sameClient[0];
      if (!registration) return new LaunchError(sameClient.length > 1 ? 'deployment_undecided' : 'client_id_unknown');
      const { issuer, clientId, jwksEndpoint, deploymentIds } = registration;
      const claims = await requireSignature(token, this.#keys, jwksEndpoint);
      const notice = requireNotice(claims, { issuer, clientId, now: this.#clock.now() });
      return deploymentIds.includes(notice.deploymentId)
        ? { ...notice, by: registration }
        : await this.#refusal(registration, notice);
    } catch (error) {
      if (error instanceof LaunchError) return error;
      throw error;
    }
  }

  #refusal(registration: NoticeRegistration, { deploymentId }: Notice): LaunchError | Promise<LaunchError> {
    if (registration.deploymentPolicy === 'Listed') return new LaunchError('unknown_deployment');
    return refusalOfDeployment(this.#db, registration, deploymentId);
  }
}

/** Returns the registration of the deployment if several LMSs share issuer and client id; its key set proves it. */
function withDeployment(
  registrations: readonly NoticeRegistration[],
  { claims }: UnverifiedToken,
): NoticeRegistration | undefined {
  const id = storable(claims[`${LTI}/deployment_id`]);
  const [registration, another] = registrations.filter(({ deploymentIds }) => deploymentIds.includes(id));
  return another ? undefined : registration;
}

const isNoRefusal = <T>(one: T | LaunchError): one is T => !(one instanceof LaunchError);

function orRefusal<T>(read: () => T): T | LaunchError {
  try {
    return read();
  } catch (error) {
    if (error instanceof LaunchError) return error;
    throw error;
  }
}
