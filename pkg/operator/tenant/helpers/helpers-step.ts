import { HELPER_FIELDS, HELPER_KINDS, type Helper } from '../../../helper-services/helper.ts';
import { syncHelpers } from '../../../helper-services/managed-helpers.ts';
import { findCondition } from '../../../kube/status.ts';
import { type AllowedRange, literalPrivateAddress } from '../../../net/private-address.ts';
import type { Random } from '../../../runtime/random.ts';
import { type SealingKey, tenantSealer } from '../../../runtime/sealing.ts';
import { ConditionError, type StepResult } from '../../conditions/runner.ts';
import { TENANT, type ObservedTenant } from '../../kinds.ts';
import type { Secrets } from '../../secrets.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import type { DatabaseAccess } from '../database/database-step.ts';

const TOKEN_KEY = 'token';
/** The characters of a header's value (RFC 9110 §5.5), without blanks; the length is our limit. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/**
 * The step `HelpersReady`: the addresses of the tenant's helper services and their token, in the tenant's schema, where its
 * servers and the worker read them at each use. So a change of the resource or of the Secret restarts nothing.
 */
export class HelpersStep {
  readonly #secrets: Secrets;
  readonly #platformKeys: readonly SealingKey[];
  readonly #egressAllow: readonly AllowedRange[];
  readonly #random: Random;

  constructor(deps: {
    secrets: Secrets;
    platformKeys: readonly SealingKey[];
    egressAllow: readonly AllowedRange[];
    random: Random;
  }) {
    this.#secrets = deps.secrets;
    this.#platformKeys = deps.platformKeys;
    this.#egressAllow = deps.egressAllow;
    this.#random = deps.random;
  }

  /** Runs one statement, or none if the tenant has no helpers and had none before. */
  async run(tenant: ObservedTenant, accepted: AcceptedTenant, { shard }: DatabaseAccess): Promise<StepResult<object>> {
    const { tenantId, slug, credentials, isAdopting } = accepted;
    const wanted = await this.#wanted(tenant);
    const before = findCondition(tenant.status?.conditions ?? [], 'HelpersReady');
    const isKnown = wanted.length === 0 && before?.reason === 'NotConfigured' && !isAdopting;
    const sealer = tenantSealer(this.#platformKeys, tenantId, this.#random, credentials.data?.generation ?? 0);
    if (!isKnown) await syncHelpers({ tenantId, slug, pool: shard.pool, sealer }, wanted);
    if (wanted.length === 0) return { value: {}, reason: 'NotConfigured', message: 'the tenant has no helper services' };
    return { value: {}, reason: 'HelpersReady', message: `helper services: ${wanted.map(({ kind }) => kind).join(', ')}` };
  }

  /** Returns the helpers that the spec names. Throws ConditionError. */
  async #wanted(tenant: ObservedTenant): Promise<Helper[]> {
    const { helpers = {} } = tenant.spec;
    const named = HELPER_KINDS.flatMap((kind) => {
      const [field, url] = [HELPER_FIELDS[kind], helpers[HELPER_FIELDS[kind]]];
      return url === undefined ? [] : [{ kind, field: `spec.helpers.${field}`, url }];
    });
    for (const { field, url } of named) this.#requireReachable(field, url);
    if (named.length === 0) return [];
    const token = helpers.credentialsSecretRef ? await this.#token(tenant, helpers.credentialsSecretRef.name) : null;
    return named.map(({ kind, url }) => ({ kind, url, token }));
  }

  #requireReachable(field: string, url: string): void {
    if (!URL.canParse(url)) throw new ConditionError('AddressInvalid', `${field} is not a valid address`, { isTerminal: true });
    const privateAddress = literalPrivateAddress(url, this.#egressAllow);
    if (privateAddress === undefined) return;
    const message = `${field} leads to a private address (${privateAddress}), and CARREL_EGRESS_ALLOW does not allow it`;
    throw new ConditionError('AddressRefused', message, { isTerminal: true });
  }

  async #token(tenant: ObservedTenant, name: string): Promise<string> {
    const field = 'spec.helpers.credentialsSecretRef';
    const { [TOKEN_KEY]: token = '' } = await this.#secrets.named({ by: tenant, kind: TENANT, field, name }, [TOKEN_KEY]);
    if (TOKEN.test(token)) return token;
    const message =
      `${field}: the value ${TOKEN_KEY} of Secret ${name} must be 1 to 4,096 visible ASCII characters, as ` +
      'a header takes them';
    throw new ConditionError('TokenInvalid', message, { isTerminal: true });
  }
}
