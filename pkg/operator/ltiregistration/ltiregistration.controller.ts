import type { Observed } from '../../kube/object.ts';
import { type AllowedRange, literalInwardAddress } from '../../net/inward.ts';
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
  readonly egressAllow: readonly AllowedRange[];
}

export const ltiRegistrationReconciler = (deps: Deps): LinkedReconciler<LtiRegistration> =>
  new LinkedReconciler(deps, new LtiRegistrations(deps));

/** Two clocks may not agree to the millisecond on what is due. */
const MIN_WAIT_MS = 1_000;

const CLIENT_ID_MISSING = 'paste the addresses of the status at the LMS, then set spec.clientId to the client id that it shows';

/** The columns of a platform's addresses (specification.md, LTI platform). */
const MAX_ADDRESS = 500;

interface Accepted {
  readonly tenant: ObservedTenant;
  readonly clientId: string;
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
    // Also of one that is not accepted: an LMS makes the client id once these are pasted there.
    const tenant = this.#deps.access.find(registration.metadata.namespace, registration.spec.tenantRef.name);
    const status = { ...(tenant ? addresses(tenant) : {}), ...(synced.value ? { publicKeyIds: synced.value } : {}) };
    return { status, message: `launches from ${registration.spec.platform.issuer}` };
  }

  remove(registration: Observed<LtiRegistration>, rows: TenantRows): Promise<void> {
    return removeRegistration(rows, referenceOf(registration));
  }

  async #accept(registration: Observed<LtiRegistration>): Promise<Outcome<Accepted>> {
    const { informer, access } = this.#deps;
    const { metadata, spec } = registration;
    const tenant = access.require(metadata.namespace, spec.tenantRef.name);
    this.#requireAddresses(spec);
    const { clientId } = spec;
    if (clientId === undefined) throw new NotYet('ClientIdMissing', CLIENT_ID_MISSING, { isStuck: true });
    const standing = standingOf(registration, informer.store.byIndex(BY_TENANT, `${metadata.namespace}/${spec.tenantRef.name}`));
    if (standing.conflict) throw new NotYet('Conflict', standing.conflict, { isStuck: true });
    return { value: { tenant, clientId, standing }, reason: 'Accepted', message: `belongs to Tenant ${tenant.metadata.name}` };
  }

  /** The two that server and worker dial must not lead inside; the browser goes to the third. A name that resolves to inside is found when it is dialled. */
  #requireAddresses(spec: LtiRegistration['spec']): void {
    const { authEndpoint, tokenEndpoint, jwksEndpoint } = endpointsOf(spec);
    const refuse = (reason: string, message: string): never => {
      throw new NotYet(reason, message, { isStuck: true });
    };
    for (const [name, address] of Object.entries({ authEndpoint, tokenEndpoint, jwksEndpoint })) {
      if (address.length > MAX_ADDRESS) refuse('AddressTooLong', `${name} of the preset is longer than ${MAX_ADDRESS} characters`);
      // The schema's isURL takes what no client can dial: a port above 65535, an IPv4 address out of range.
      if (!URL.canParse(address)) refuse('AddressInvalid', `spec.platform.${name} is no address that can be dialled`);
    }
    for (const [name, address] of Object.entries({ tokenEndpoint, jwksEndpoint })) {
      const inward = literalInwardAddress(address, this.#deps.egressAllow);
      if (inward === undefined) continue;
      const advice = "the platform's operator opens such addresses in CARREL_EGRESS_ALLOW";
      refuse('AddressRefused', `address_refused: spec.platform.${name} leads inside (${inward}); ${advice}`);
    }
  }

  async #sync(registration: Observed<LtiRegistration>, { tenant, clientId, standing }: Accepted): Promise<Outcome<string[]>> {
    const rows = await this.#deps.access.open(tenant);
    const given = await this.#givenKey(registration);
    const wanted = wantedOf(registration, { tenant, clientId, standing });
    const { keyRotationPeriod } = registration.spec;
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
export function wantedOf({ spec }: LtiRegistration, { tenant, clientId, standing: { peers } }: Accepted): Registration {
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
      clientId,
      consumerKey: spec.consumerKey ?? clientId,
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
