import type { Observed } from '../../kube/object.ts';
import { relationsOf, type Relations } from '../../lti/registrations/conflicts.policy.ts';
import { deepLinkingModeOf, endpointsOf } from '../../lti/registrations/presets.ts';
import {
  ClientIdTaken,
  LmsIsShared,
  removeOtherRegistrations,
  removeRegistration,
  syncRegistration,
  type KeySource,
  type Published,
  type Registration,
} from '../../lti/registrations/registration.sql.ts';
import { periodMs } from '../../lti/registrations/rotation.policy.ts';
import { givenToolKey, InvalidToolKey, newToolKey, type ToolKey } from '../../lti/registrations/tool-key.ts';
import { type AllowedRange, literalPrivateAddress } from '../../net/private-address.ts';
import { BY_TENANT } from '../informers.ts';
import { LTI_REGISTRATION, type LtiRegistration, type LtiRegistrationStatus, type ObservedTenant } from '../kinds.ts';
import { TenantScopedReconciler, referenceOf, type TenantScopedDeps, type TenantScopedKind } from '../tenant-scoped.ts';
import type { Secrets } from '../secrets.ts';
import { ConditionError, type ConditionRunner, type StepCondition, type StepResult } from '../conditions/runner.ts';
import { fieldsIgnoredOfRegistration } from '../unsupported.policy.ts';
import type { TenantRows, TenantSchema } from '../../store/postgres/tenant-schema.ts';

interface Deps extends TenantScopedDeps<LtiRegistration> {
  readonly secrets: Secrets;
  readonly egressAllow: readonly AllowedRange[];
}

export const ltiRegistrationReconciler = (deps: Deps): TenantScopedReconciler<LtiRegistration> =>
  new TenantScopedReconciler(deps, new LtiRegistrations(deps));

/** The operator does not watch tools that no resource made. */
const CLIENT_ID_RETRY_MS = 60_000;
/** The clocks of operator and database may differ. */
const MIN_WAIT_MS = 1_000;

const CLIENT_ID_MISSING = 'paste the addresses of the status at the LMS, then set spec.clientId to the client id that it shows';

/** The most waiting and the most admitted deployments that the status lists. */
const DEPLOYMENTS_SHOWN = 10;

/** The columns of a platform's addresses (docs/design/records.md, LTI). */
const MAX_ADDRESS = 500;

interface Accepted {
  readonly tenant: ObservedTenant;
  readonly clientId: string;
  readonly relations: Relations<Observed<LtiRegistration>>;
}

/**
 * An LtiRegistration becomes a tool, its platform and its deployments in the tenant's schema; its status is what an LMS
 * administrator pastes.
 */
class LtiRegistrations implements TenantScopedKind<LtiRegistration> {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async pass(
    registration: Observed<LtiRegistration>,
    steps: ConditionRunner,
  ): Promise<{ status: LtiRegistrationStatus; message: string }> {
    const accepted = await steps.run('Accepted', {}, () => this.#accept(registration));
    const synced = await steps.run('Synced', { accepted }, ({ accepted }) => this.#sync(registration, accepted));
    // The status has them also if the registration is not accepted: an LMS creates the client id after they are pasted there.
    const tenant = this.#deps.access.find(registration.metadata.namespace, registration.spec.tenantRef.name);
    const status = { ...(tenant ? addresses(tenant) : {}), ...(synced.value ? shownOf(synced.value, registration.spec) : {}) };
    const { name, issuer } = registration.spec.platform;
    return { status, message: `launches from ${name === undefined ? issuer : `${name} (${issuer})`}` };
  }

  conditions({ spec }: Observed<LtiRegistration>): readonly StepCondition[] {
    return [fieldsIgnoredOfRegistration(spec)];
  }

  remove(registration: Observed<LtiRegistration>, rows: TenantRows): Promise<void> {
    return removeRegistration(rows, referenceOf(registration));
  }

  removeOthers(schema: TenantSchema, references: readonly string[]): Promise<void> {
    return removeOtherRegistrations(schema, references);
  }

  async #accept(registration: Observed<LtiRegistration>): Promise<StepResult<Accepted>> {
    const { informer, access } = this.#deps;
    const { metadata, spec } = registration;
    const tenant = access.require(metadata.namespace, spec.tenantRef.name);
    this.#requireAddresses(spec);
    const { clientId } = spec;
    if (clientId === undefined) throw new ConditionError('ClientIdMissing', CLIENT_ID_MISSING, { isTerminal: true });
    const relations = relationsOf(
      registration,
      informer.store.byIndex(BY_TENANT, `${metadata.namespace}/${spec.tenantRef.name}`),
    );
    if (relations.conflict) throw new ConditionError('Conflict', relations.conflict, { isTerminal: true });
    return { value: { tenant, clientId, relations }, reason: 'Accepted', message: `belongs to Tenant ${tenant.metadata.name}` };
  }

  /**
   * The two that server and worker connect to must not be private addresses; the browser opens the third. A name that resolves to
   * a private address is refused when it is connected to.
   */
  #requireAddresses(spec: LtiRegistration['spec']): void {
    const { authEndpoint, tokenEndpoint, jwksEndpoint } = endpointsOf(spec);
    const refuse = (reason: string, message: string): never => {
      throw new ConditionError(reason, message, { isTerminal: true });
    };
    for (const [name, address] of Object.entries({ authEndpoint, tokenEndpoint, jwksEndpoint })) {
      if (address.length > MAX_ADDRESS)
        refuse('AddressTooLong', `${name} of the preset is longer than ${MAX_ADDRESS} characters`);
      // The schema's isURL accepts URLs that no client can connect to: a port above 65535, an IPv4 address out of range.
      if (!URL.canParse(address)) refuse('AddressInvalid', `spec.platform.${name} is not a valid address`);
    }
    for (const [name, address] of Object.entries({ tokenEndpoint, jwksEndpoint })) {
      const privateAddress = literalPrivateAddress(address, this.#deps.egressAllow);
      if (privateAddress === undefined) continue;
      const advice = "the platform's operator can allow such addresses in CARREL_EGRESS_ALLOW";
      refuse(
        'AddressRefused',
        `address_refused: spec.platform.${name} leads to a private address (${privateAddress}); ${advice}`,
      );
    }
  }

  async #sync(
    registration: Observed<LtiRegistration>,
    { tenant, clientId, relations }: Accepted,
  ): Promise<StepResult<Published>> {
    const rows = await this.#deps.access.open(tenant);
    const given = await this.#givenKey(registration);
    const wanted = wantedOf(registration, { tenant, clientId, relations });
    const { keyRotationPeriod } = registration.spec;
    const published = await synced(rows, referenceOf(registration), wanted, {
      given,
      generate: newToolKey,
      period: keyRotationPeriod === undefined ? undefined : periodMs(keyRotationPeriod),
      now: this.#deps.clock.now(),
    });
    const { dueAt } = published;
    return {
      value: published,
      reason: 'Synced',
      message: `client ${clientId} is registered in the tenant`,
      ...(dueAt ? { retryAfterMs: Math.max(MIN_WAIT_MS, dueAt.getTime() - this.#deps.clock.now().getTime()) } : {}),
    };
  }

  async #givenKey(registration: Observed<LtiRegistration>): Promise<ToolKey | undefined> {
    const { keySecretRef } = registration.spec;
    if (!keySecretRef) return undefined;
    const { name, key } = keySecretRef;
    const data = await this.#deps.secrets.named({ by: registration, kind: LTI_REGISTRATION, field: 'spec.keySecretRef', name }, [
      key,
    ]);
    return givenToolKey(data[key] ?? '').catch((error: unknown) => {
      if (!(error instanceof InvalidToolKey)) throw error;
      throw new ConditionError('KeyInvalid', `spec.keySecretRef: ${error.message}`, { isTerminal: true, cause: error });
    });
  }
}

async function synced(rows: TenantRows, reference: string, wanted: Registration, keys: KeySource): Promise<Published> {
  try {
    return await syncRegistration(rows, reference, wanted, keys);
  } catch (error) {
    if (!(error instanceof ClientIdTaken || error instanceof LmsIsShared)) throw error;
    throw new ConditionError('Conflict', error.message, { isTerminal: true, retryAfterMs: CLIENT_ID_RETRY_MS, cause: error });
  }
}

/** Registrations of one LMS share its platform: it is called as the earliest says, and framed where any of them says. */
export function wantedOf({ spec }: LtiRegistration, { tenant, clientId, relations: { peers } }: Accepted): Registration {
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
      deploymentPolicy: spec.deploymentPolicy,
      isActive: spec.active,
    },
    deploymentIds: spec.deploymentIds ?? [],
    peers: peers.map(referenceOf),
  };
}

/**
 * Returns the status fields that come from the rows. An undefined field is removed: with `Listed` no deployment waits or is
 * admitted by REST.
 */
function shownOf({ keyIds, waiting, admitted }: Published, { deploymentPolicy }: LtiRegistration['spec']): LtiRegistrationStatus {
  const shown = (ids: readonly string[]) =>
    deploymentPolicy === 'Confirm' ? { count: ids.length, ids: ids.slice(0, DEPLOYMENTS_SHOWN) } : undefined;
  return {
    publicKeyIds: [...keyIds],
    waitingDeployments: shown(waiting),
    admittedDeployments: shown(admitted),
  } as LtiRegistrationStatus;
}

/** docs/design/lti.md, A launch: the addresses of a tool registration. */
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
