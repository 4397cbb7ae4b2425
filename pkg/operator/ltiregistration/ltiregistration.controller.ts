import type { Observed } from '../../kube/object.ts';
import { BY_TENANT } from '../informers.ts';
import type { LtiRegistration, LtiRegistrationStatus, ObservedTenant } from '../kinds.ts';
import { LinkedReconciler, referenceOf, type LinkedDeps, type LinkedKind } from '../linked.ts';
import type { Secrets } from '../secrets.ts';
import { NotYet, type Outcome, type Steps } from '../steps.ts';
import type { TenantRows } from '../tenant-rows.ts';
import { standingOf, type Standing } from './conflicts.ts';
import { givenToolKey, newToolKey, type ToolKey } from './keys.ts';
import { deepLinkingModeOf, endpointsOf } from './presets.ts';
import { periodMs } from './rotation.policy.ts';
import { removeRegistration, syncRegistration, type Registration } from './rows.ts';

interface Deps extends LinkedDeps<LtiRegistration> {
  readonly secrets: Secrets;
}

export const ltiRegistrationReconciler = (deps: Deps): LinkedReconciler<LtiRegistration> =>
  new LinkedReconciler(deps, new LtiRegistrations(deps));

/** Two clocks may not agree to the millisecond on what is due. */
const MIN_WAIT_MS = 1_000;

/** The columns of a platform's addresses (specification.md, LTI platform). */
const MAX_ADDRESS = 500;

interface Accepted {
  readonly tenant: ObservedTenant;
  readonly standing: Standing;
}

/** An LtiRegistration becomes a tool, its platform and its deployments in the tenant's schema; its status is what an LMS administrator pastes. */
class LtiRegistrations implements LinkedKind<LtiRegistration> {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async pass(registration: Observed<LtiRegistration>, steps: Steps): Promise<{ status: LtiRegistrationStatus; message: string }> {
    const accepted = await steps.run('Accepted', {}, () => this.#accept(registration));
    const synced = await steps.run('Synced', { accepted }, ({ accepted }) => this.#sync(registration, accepted));
    const status = { ...(accepted.value ? addresses(accepted.value.tenant) : {}), ...(synced.value ? { publicKeyIds: synced.value } : {}) };
    return { status, message: `launches from ${registration.spec.platform.issuer}` };
  }

  remove(registration: Observed<LtiRegistration>, rows: TenantRows): Promise<void> {
    return removeRegistration(rows, referenceOf(registration));
  }

  async #accept(registration: Observed<LtiRegistration>): Promise<Outcome<Accepted>> {
    const { informer, access } = this.#deps;
    const { metadata, spec } = registration;
    const tenant = access.require(metadata.namespace, spec.tenantRef.name);
    const { authEndpoint, tokenEndpoint, jwksEndpoint } = endpointsOf(spec);
    const tooLong = Object.entries({ authEndpoint, tokenEndpoint, jwksEndpoint }).find(([, address]) => address.length > MAX_ADDRESS);
    if (tooLong)
      throw new NotYet('AddressTooLong', `${tooLong[0]} of the preset is longer than ${MAX_ADDRESS} characters`, { isStuck: true });
    const standing = standingOf(registration, informer.store.byIndex(BY_TENANT, `${metadata.namespace}/${spec.tenantRef.name}`));
    if (standing.conflict) throw new NotYet('Conflict', standing.conflict, { isStuck: true });
    return { value: { tenant, standing }, reason: 'Accepted', message: `belongs to Tenant ${tenant.metadata.name}` };
  }

  async #sync(registration: Observed<LtiRegistration>, { tenant, standing }: Accepted): Promise<Outcome<string[]>> {
    const rows = await this.#deps.access.open(tenant);
    const given = await this.#givenKey(registration);
    const wanted = wantedOf(registration, tenant, standing);
    const { clientId, keyRotationPeriod } = registration.spec;
    const { keyIds, dueAt } = await syncRegistration(rows, referenceOf(registration), wanted, {
      given,
      generate: newToolKey,
      period: keyRotationPeriod === undefined ? undefined : periodMs(keyRotationPeriod),
      now: this.#deps.clock.now(),
    });
    return {
      value: [...keyIds],
      reason: 'Synced',
      message: `client ${clientId} is known to the tenant`,
      ...(dueAt ? { retryAfterMs: Math.max(MIN_WAIT_MS, dueAt.getTime() - this.#deps.clock.now().getTime()) } : {}),
    };
  }

  async #givenKey({ metadata, spec }: Observed<LtiRegistration>): Promise<ToolKey | undefined> {
    if (!spec.keySecretRef) return undefined;
    const { name, key } = spec.keySecretRef;
    const data = await this.#deps.secrets.named('spec.keySecretRef', { namespace: metadata.namespace, name }, [key]);
    return givenToolKey(data[key] ?? '');
  }
}

/** Registrations of one issuer share its platform: it is called as the earliest says, and framed where any of them says. */
export function wantedOf({ spec }: LtiRegistration, tenant: ObservedTenant, { peers }: Standing): Registration {
  const { tokenAudience, ...endpoints } = endpointsOf(spec);
  return {
    platform: {
      issuer: spec.platform.issuer,
      ...endpoints,
      platformName: peers.map((peer) => peer.spec.platform.name).find((name) => name !== undefined) ?? null,
      tokenAudience: tokenAudience ?? null,
      frameAncestors: [...new Set(peers.flatMap((peer) => peer.spec.platform.frameAncestors ?? []))].toSorted(),
    },
    tool: {
      clientId: spec.clientId,
      consumerKey: spec.consumerKey ?? spec.clientId,
      toolUrl: spec.toolUrl ?? tenant.status?.appUrl ?? '',
      scope: spec.scope,
      deepLinkingResponseMode: deepLinkingModeOf(spec),
      isActive: spec.active,
    },
    deploymentIds: spec.deploymentIds ?? [],
  };
}

/** specification.md, LTI endpoints: the addresses of a tool registration. */
function addresses({ status }: ObservedTenant): LtiRegistrationStatus {
  const { appUrl, ltiUrl } = status ?? {};
  if (!appUrl || !ltiUrl) return {};
  return {
    loginInitiationUrl: `${ltiUrl}/login_initiation`,
    redirectUri: `${ltiUrl}/launch`,
    launchUrl: `${appUrl}/lti/launch`,
    jwksUrl: `${ltiUrl}/.well-known/jwks.json`,
  };
}
