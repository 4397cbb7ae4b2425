import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { GuardedClient } from '../../net/client.ts';
import type { AllowedRange } from '../../net/private-address.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import type { Database } from '../../store/postgres/database.ts';
import { presetOf } from '../registrations/products.policy.ts';
import type { Agreement } from '../registrations/registration-list.sql.ts';
import type { NewRegistrationLink, RegistrationLink } from '../registrations/registrations.schema.ts';
import type { WantedRegistration } from '../registrations/wanted-registration.ts';
import {
  endpointsOfLms,
  findLink,
  hasFreeSlot,
  holdLink,
  insertLink,
  type LinkRow,
  type LmsEndpoints,
  releaseLink,
  requestRegistration,
  useLink,
  useOfClientId,
} from './links.sql.ts';
import { OPEN_LINKS_MAX } from './registration-limits.ts';
import type { PlatformAddresses } from './platform-configuration.policy.ts';
import { PlatformRequests } from './platform-requests.ts';
import { type Granted, readAnswer } from './registration-answer.policy.ts';
import { RegistrationError } from './registration-error.ts';
import { type Asked, askedOf, registrationBody, type Tool } from './tool-registration.policy.ts';

/** Lifetime of an unused link. */
const LINK_MS = 86_400_000;
/** Time from the page to its button; Moodle's token lives as long. */
const PLAN_MS = 3_600_000;
const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** RFC 6750 §2.1. */
const REGISTRATION_TOKEN = /^[A-Za-z0-9\-._~+/]{1,8192}=*$/;

/**
 * The content of the page, which its button sends. The form holds it sealed, so the tool registers exactly what the page showed.
 */
interface Plan {
  readonly id: string;
  readonly madeAt: number;
  readonly platform: PlatformAddresses;
  readonly asked: Asked;
  readonly registrationToken: string | undefined;
}

/** A registration that a person has yet to confirm. */
export interface Offer {
  readonly platform: PlatformAddresses;
  readonly asked: Asked;
  readonly platformName: string | null;
  readonly sealedPlan: string;
}

/** A completed registration. */
export interface Outcome {
  readonly issuer: string;
  readonly agreement: Agreement;
  /** False: the LMS sends its deployment id at the first launch, and an administrator has to admit it. */
  readonly hasDeployment: boolean;
}

interface Deps {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly client: GuardedClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly tenantId: string;
  readonly tool: Tool;
  readonly allow: readonly AllowedRange[];
}

/**
 * Registers the tool at an LMS (LTI Dynamic Registration 1.0). An LMS opens a link and a person confirms. The tool then registers
 * itself there and leaves the registration for the operator, which makes an LtiRegistration of it.
 *
 * Invariants:
 * - A link registers one LMS: even if several requests use it at once, one registration is sent at a time, and none after one has
 *   succeeded.
 * - An unused link ends when its creator is no longer an administrator.
 * - A registration that fails leaves the link as it was; after a crash the link is usable again within a minute.
 * - Sends exactly what the page showed.
 * - No page before the button changes anything, here or at the LMS.
 */
export class DynamicRegistration {
  readonly #deps: Deps;
  readonly #requests: PlatformRequests;
  /** Registrations that run in this process, by plan: pressing the button twice registers once. */
  readonly #running = new Map<string, Promise<Outcome>>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#requests = new PlatformRequests(deps);
  }

  /**
   * Returns a new link. Its address is shown only this once, since only its hash is stored. One statement. Throws Problem
   * conflict.
   */
  async createLink(actor: Actor, { platform_name }: NewRegistrationLink): Promise<RegistrationLink> {
    const { db, clock, random, tool } = this.#deps;
    const token = random.base64url(TOKEN_BYTES);
    const expiresAt = new Date(clock.now().getTime() + LINK_MS);
    const link = { uuid: random.uuid(), tokenHash: sha256Hex(token), platformName: platform_name ?? null };
    if (!(await insertLink(db.tables, { ...link, createdBy: actor.userId, expiresAt })))
      throw new Problem('conflict', `${OPEN_LINKS_MAX} links are still unused; each of them expires within a day.`);
    return { url: `${tool.ltiUrl}/register/${token}`, expires_at: expiresAt.toISOString() };
  }

  /** Reads the configuration of the LMS and sends it nothing else. Two statements. Throws RegistrationError. */
  async offer(
    token: string,
    from: { readonly configurationUrl: string | undefined; readonly registrationToken: string | undefined },
  ): Promise<Offer> {
    const { db, clock, random } = this.#deps;
    const hash = hashOf(token);
    const link = await findLink(db.tables, hash);
    requireOpen(link, clock.now());
    if (!from.configurationUrl) throw new RegistrationError('start_at_lms');
    const registrationToken = from.registrationToken || undefined;
    if (registrationToken !== undefined && !REGISTRATION_TOKEN.test(registrationToken))
      throw new RegistrationError('registration_token_invalid');
    const { scopes, claims, messages, ...platform } = await this.#requests.configuration(
      from.configurationUrl,
      registrationToken,
    );
    await this.#requireNoConflict(platform);
    const asked = askedOf({ ...platform, scopes, claims, messages });
    const plan: Plan = { id: random.uuid(), madeAt: clock.now().getTime(), platform, asked, registrationToken };
    return { platform, asked, platformName: link.platformName, sealedPlan: this.#seal(plan, hash) };
  }

  /** Registers the tool as the page showed. Throws RegistrationError. */
  async register(token: string, sealedPlan: string | undefined): Promise<Outcome> {
    const hash = hashOf(token);
    const plan = this.#open(sealedPlan, hash);
    const running = this.#running.get(plan.id);
    if (running) return running;
    const begun = this.#register(hash, plan).finally(() => this.#running.delete(plan.id));
    this.#running.set(plan.id, begun);
    return begun;
  }

  async #register(hash: string, plan: Plan): Promise<Outcome> {
    const { db, clock } = this.#deps;
    const found = await findLink(db.tables, hash);
    const done = found && outcomeOf(found, plan);
    if (done) return done;
    requireOpen(found, clock.now());
    if (clock.now().getTime() - plan.madeAt > PLAN_MS) throw new RegistrationError('form_invalid');
    const link = await holdLink(db.tables, hash, plan.id, clock.now());
    if (!link) {
      requireOpen(await findLink(db.tables, hash), clock.now());
      throw new RegistrationError('link_busy');
    }
    try {
      return await this.#send(link, plan);
    } catch (error) {
      await releaseLink(db.tables, link.id, plan.id);
      throw error;
    }
  }

  async #send(link: LinkRow, { id, platform, asked, registrationToken }: Plan): Promise<Outcome> {
    const { db, clock, tool } = this.#deps;
    const existing = await this.#requireNoConflict(platform);
    if (!(await hasFreeSlot(db.tables))) throw new RegistrationError('too_many_registrations');
    const answer = await this.#requests.register(
      platform.registrationEndpoint,
      registrationBody(tool, platform, asked),
      registrationToken,
    );
    const granted = readAnswer(answer, { platform, asked, redirectUri: `${tool.ltiUrl}/launch` });
    const agreed: Agreement = {
      product: platform.product,
      scopes_asked: asked.scopes,
      scopes_granted: granted.scopes,
      placements: granted.placements,
      has_deployment: granted.deploymentId !== null,
    };
    const wanted = wantedOf(platform, granted, { name: link.platformName, tokenAudience: existing?.tokenAudience });
    const agreement = await db.transaction(async (tx) => {
      const { isTaken, isShared } = await useOfClientId(tx, platform, granted.clientId);
      if (isTaken) throw new RegistrationError('client_id_taken', `It is ${granted.clientId}.`);
      const complete: Agreement = { ...agreed, ...(isShared ? { shares_client_id: true } : {}) };
      const { issuer, jwksEndpoint } = platform;
      const used = {
        id: link.id,
        attempt: id,
        now: clock.now(),
        issuer,
        jwksEndpoint,
        clientId: granted.clientId,
        agreement: complete,
      };
      if (!(await useLink(tx, used))) throw new RegistrationError('link_busy');
      if (!(await requestRegistration(tx, link.uuid, wanted))) throw new RegistrationError('too_many_registrations');
      return complete;
    });
    return { issuer: platform.issuer, agreement, hasDeployment: agreement.has_deployment };
  }

  /**
   * An LMS (an issuer with a key set) has one set of endpoints here. Its token audience stays unchanged, because the existing
   * registrations work with it.
   */
  async #requireNoConflict(platform: PlatformAddresses): Promise<LmsEndpoints | undefined> {
    const existing = await endpointsOfLms(this.#deps.db.tables, platform);
    const isSame =
      existing === undefined ||
      (existing.authEndpoint === platform.authEndpoint && existing.tokenEndpoint === platform.tokenEndpoint);
    if (!isSame) throw new RegistrationError('issuer_conflict', `It is ${platform.issuer}.`);
    return existing;
  }

  #seal(plan: Plan, hash: string): string {
    return this.#deps.sealer.seal(JSON.stringify(plan), this.#associatedData(hash));
  }

  #open(sealedPlan: string | undefined, hash: string): Plan {
    try {
      return JSON.parse(this.#deps.sealer.open(sealedPlan ?? '', this.#associatedData(hash))) as Plan;
    } catch (error) {
      if (error instanceof SealError) throw new RegistrationError('form_invalid', undefined, { cause: error });
      throw error;
    }
  }

  #associatedData = (hash: string): string[] => [this.#deps.tenantId, 'lti_registration_links', hash, 'plan'];
}

/** Throws `link_unknown` if the text is not a token. */
function hashOf(token: string): string {
  if (!TOKEN.test(token)) throw new RegistrationError('link_unknown');
  return sha256Hex(token);
}

function requireOpen(link: LinkRow | undefined, now: Date): asserts link is LinkRow {
  if (!link) throw new RegistrationError('link_unknown');
  if (link.usedAt !== null) throw new RegistrationError('link_used');
  if (!link.isBacked) throw new RegistrationError('link_unknown');
  if (link.expiresAt <= now) throw new RegistrationError('link_expired');
}

/** Returns the outcome of a plan that was already carried out: the browser did not receive the page and asks for it again. */
function outcomeOf(link: LinkRow, plan: Plan): Outcome | undefined {
  if (link.attempt !== plan.id || link.issuer === null || link.agreement === null) return undefined;
  return { issuer: link.issuer, agreement: link.agreement, hasDeployment: link.agreement.has_deployment };
}

const wantedOf = (
  platform: PlatformAddresses,
  granted: Granted,
  of: { name: string | null; tokenAudience: string | null | undefined },
): WantedRegistration => ({
  preset: presetOf(platform.product),
  issuer: platform.issuer,
  name: of.name,
  authEndpoint: platform.authEndpoint,
  tokenEndpoint: platform.tokenEndpoint,
  jwksEndpoint: platform.jwksEndpoint,
  tokenAudience: of.tokenAudience === undefined ? platform.tokenAudience : of.tokenAudience,
  clientId: granted.clientId,
  deploymentId: granted.deploymentId,
});
