import { newSecret } from '../../webhooks/webhook-secrets.ts';
import { ownerReference } from '../../kube/owner.ts';
import type { Observed } from '../../kube/object.ts';
import { type AllowedRange, literalPrivateAddress } from '../../net/private-address.ts';
import type { Random } from '../../runtime/random.ts';
import { WEBHOOK, type Webhook, type WebhookStatus } from '../kinds.ts';
import { TenantScopedReconciler, referenceOf, type TenantScopedDeps, type TenantScopedKind } from '../tenant-scoped.ts';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from '../names.ts';
import type { SecretOwner, Secrets } from '../secrets.ts';
import { ConditionError, type StepResult, type ConditionRunner } from '../conditions/runner.ts';
import type { TenantRows, TenantSchema } from '../../store/postgres/tenant-schema.ts';
import {
  findManagedWebhook,
  type ManagedRow,
  deleteOtherManagedWebhooks,
  openSecret,
  removeManagedWebhook,
  syncManagedWebhook,
} from '../../webhooks/managed-webhooks.ts';
import { TooManyWebhooks } from '../../webhooks/webhooks.policy.ts';

interface Deps extends TenantScopedDeps<Webhook> {
  readonly secrets: Secrets;
  readonly egressAllow: readonly AllowedRange[];
  readonly random: Random;
}

export const webhookReconciler = (deps: Deps): TenantScopedReconciler<Webhook> =>
  new TenantScopedReconciler(deps, new Webhooks(deps));

const SECRET_KEY = 'secret';
const MAX_SECRET_LENGTH = 1_024;
/** The operator does not watch the webhooks that REST deletes. */
const TOO_MANY_RETRY_MS = 30_000;

const webhookSecretName = (webhook: Webhook): string => `${webhook.metadata.name}-webhook`;

/** A Webhook becomes an endpoint in its tenant's schema, with a signing secret of its own or of its owner's. */
class Webhooks implements TenantScopedKind<Webhook> {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async pass(webhook: Observed<Webhook>, steps: ConditionRunner): Promise<{ status: WebhookStatus; message: string }> {
    const accepted = await steps.run('Accepted', {}, () => this.#accept(webhook));
    const synced = await steps.run('Synced', { accepted }, () => this.#sync(webhook));
    return { status: synced.value ? statusOf(synced.value) : {}, message: `delivers to ${webhook.spec.url}` };
  }

  remove(webhook: Observed<Webhook>, rows: TenantRows): Promise<void> {
    return removeManagedWebhook(rows, referenceOf(webhook));
  }

  removeOthers(schema: TenantSchema, references: readonly string[]): Promise<void> {
    return deleteOtherManagedWebhooks(schema, references);
  }

  async #accept({ metadata, spec }: Observed<Webhook>): Promise<StepResult<object>> {
    this.#deps.access.require(metadata.namespace, spec.tenantRef.name);
    // The schema's isURL accepts URLs that no client can connect to: a port above 65535, an IPv4 address out of range.
    if (!URL.canParse(spec.url))
      throw new ConditionError('AddressInvalid', 'spec.url is not a valid address', { isTerminal: true });
    const privateAddress = literalPrivateAddress(spec.url, this.#deps.egressAllow);
    if (privateAddress !== undefined)
      throw new ConditionError('AddressRefused', `address_refused: spec.url leads to a private address (${privateAddress})`, {
        isTerminal: true,
      });
    return { value: {}, reason: 'Accepted', message: `belongs to Tenant ${spec.tenantRef.name}` };
  }

  async #sync(webhook: Observed<Webhook>): Promise<StepResult<ManagedRow>> {
    const { access, random } = this.#deps;
    const { metadata, spec } = webhook;
    const rows = await access.open(access.require(metadata.namespace, spec.tenantRef.name));
    const secret = spec.secretRef ? await this.#namedSecret(webhook, spec.secretRef) : await this.#ownSecret(webhook, rows);
    const { url, events, active, headers = {} } = spec;
    const wanted = { url, events, secret, headers, active };
    const state = await syncManagedWebhook(rows, referenceOf(webhook), wanted, random).catch(asConditionError);
    if (state.disabledReason !== null) return { value: state, ...disabled(state.disabledReason) };
    return { value: state, reason: 'Synced', message: `is endpoint ${state.uuid}` };
  }

  async #namedSecret(webhook: Observed<Webhook>, { name, key }: { name: string; key: string }): Promise<string> {
    const data = await this.#deps.secrets.named({ by: webhook, kind: WEBHOOK, field: 'spec.secretRef', name }, [key]);
    const secret = data[key] ?? '';
    if (secret.length > MAX_SECRET_LENGTH)
      throw new ConditionError('SecretTooLong', `spec.secretRef: a signing secret has at most ${MAX_SECRET_LENGTH} characters`, {
        isTerminal: true,
      });
    return secret;
  }

  /** Restores a Secret that was deleted or edited from the row. */
  async #ownSecret(webhook: Observed<Webhook>, rows: TenantRows): Promise<string> {
    const { secrets, random } = this.#deps;
    const owner = secretOwner(webhook);
    const name = webhookSecretName(webhook);
    const intact = secrets.intact(owner, name)?.[SECRET_KEY];
    const secret = intact ?? (await storedSecret(rows, webhook)) ?? newSecret(random);
    await secrets.write(owner, name, { [SECRET_KEY]: secret });
    return secret;
  }
}

function asConditionError(error: unknown): never {
  if (!(error instanceof TooManyWebhooks)) throw error;
  throw new ConditionError('TooManyWebhooks', error.message, { isTerminal: true, retryAfterMs: TOO_MANY_RETRY_MS });
}

async function storedSecret(rows: TenantRows, webhook: Webhook): Promise<string | undefined> {
  const row = await findManagedWebhook(rows, referenceOf(webhook));
  return row && openSecret(rows, row);
}

const secretOwner = (webhook: Observed<Webhook>): SecretOwner => ({
  namespace: webhook.metadata.namespace,
  reference: ownerReference(webhook, WEBHOOK),
  labels: { 'app.kubernetes.io/name': 'carrel', 'app.kubernetes.io/component': 'webhook', [MANAGED_BY_LABEL]: FIELD_MANAGER },
});

/** The endpoint is not active although its resource says so. */
const disabled = (why: string): Omit<StepResult<never>, 'value'> => ({
  status: 'False',
  reason: 'Disabled',
  message: `${why}; to start again, change the resource, or set spec.active to false and then to true`,
  isTerminal: true,
});

/** Returns the status fields of the row; an undefined field is removed. */
const statusOf = (state: ManagedRow): WebhookStatus =>
  ({
    endpointId: state.uuid,
    lastDeliveryTime: state.lastDeliveryAt?.toISOString(),
    lastStatusCode: state.lastStatusCode ?? undefined,
    failingSince: state.failingSince?.toISOString(),
    disabledReason: state.disabledReason ?? undefined,
  }) as WebhookStatus;
