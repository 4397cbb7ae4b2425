import { newSecret } from '../../events/webhooks/secrets.ts';
import { ownerReference } from '../../kube/owner.ts';
import type { Observed } from '../../kube/object.ts';
import { type AllowedRange, literalInwardAddress } from '../../net/inward.ts';
import type { Random } from '../../runtime/random.ts';
import { WEBHOOK, type Webhook, type WebhookStatus } from '../kinds.ts';
import { LinkedReconciler, referenceOf, type LinkedDeps, type LinkedKind } from '../linked.ts';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from '../names.ts';
import type { SecretOwner, Secrets } from '../secrets.ts';
import { NotYet, type Outcome, type Steps } from '../steps.ts';
import type { TenantRows } from '../tenant-rows.ts';
import { findEndpoint, openSecret, removeEndpoint, syncEndpoint, type EndpointState } from './rows.ts';

interface Deps extends LinkedDeps<Webhook> {
  readonly secrets: Secrets;
  readonly egressAllow: readonly AllowedRange[];
  readonly random: Random;
}

export const webhookReconciler = (deps: Deps): LinkedReconciler<Webhook> => new LinkedReconciler(deps, new Webhooks(deps));

const SECRET_KEY = 'secret';
const MAX_SECRET_LENGTH = 1_024;

export const webhookSecretName = (webhook: Webhook): string => `${webhook.metadata.name}-webhook`;

/** A Webhook becomes an endpoint in its tenant's schema, with a signing secret of its own or of its owner's. */
class Webhooks implements LinkedKind<Webhook> {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async pass(webhook: Observed<Webhook>, steps: Steps): Promise<{ status: WebhookStatus; message: string }> {
    const accepted = await steps.run('Accepted', {}, () => this.#accept(webhook));
    const synced = await steps.run('Synced', { accepted }, () => this.#sync(webhook));
    return { status: synced.value ? statusOf(synced.value) : {}, message: `delivers to ${webhook.spec.url}` };
  }

  remove(webhook: Observed<Webhook>, rows: TenantRows): Promise<void> {
    return removeEndpoint(rows, referenceOf(webhook));
  }

  async #accept({ metadata, spec }: Observed<Webhook>): Promise<Outcome<object>> {
    this.#deps.access.require(metadata.namespace, spec.tenantRef.name);
    // The schema's isURL takes what no client can dial: a port above 65535, an IPv4 address out of range.
    if (!URL.canParse(spec.url)) throw new NotYet('AddressInvalid', 'spec.url is no address that can be dialled', { isStuck: true });
    const inward = literalInwardAddress(spec.url, this.#deps.egressAllow);
    if (inward !== undefined) throw new NotYet('AddressRefused', `address_refused: spec.url leads inside (${inward})`, { isStuck: true });
    return { value: {}, reason: 'Accepted', message: `belongs to Tenant ${spec.tenantRef.name}` };
  }

  async #sync(webhook: Observed<Webhook>): Promise<Outcome<EndpointState>> {
    const { access, random } = this.#deps;
    const { metadata, spec } = webhook;
    const rows = await access.open(access.require(metadata.namespace, spec.tenantRef.name));
    const secret = spec.secretRef ? await this.#namedSecret(webhook, spec.secretRef) : await this.#ownSecret(webhook, rows);
    const { url, events, active, headers = {} } = spec;
    const state = await syncEndpoint(rows, referenceOf(webhook), { url, events, secret, headers, active }, random);
    if (state.disabledReason !== null) return { value: state, ...disabled(state.disabledReason) };
    return { value: state, reason: 'Synced', message: `is endpoint ${state.uuid}` };
  }

  async #namedSecret({ metadata }: Observed<Webhook>, { name, key }: { name: string; key: string }): Promise<string> {
    const data = await this.#deps.secrets.named('spec.secretRef', { namespace: metadata.namespace, name }, [key]);
    const secret = data[key] ?? '';
    if (secret.length > MAX_SECRET_LENGTH)
      throw new NotYet('SecretTooLong', `spec.secretRef: a signing secret has at most ${MAX_SECRET_LENGTH} characters`);
    return secret;
  }

  /** One that was deleted or edited is restored from the row. */
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

async function storedSecret(rows: TenantRows, webhook: Webhook): Promise<string | undefined> {
  const row = await findEndpoint(rows, referenceOf(webhook));
  return row && openSecret(rows, row);
}

const secretOwner = (webhook: Observed<Webhook>): SecretOwner => ({
  namespace: webhook.metadata.namespace,
  reference: ownerReference(webhook, WEBHOOK),
  labels: { 'app.kubernetes.io/name': 'carrel', 'app.kubernetes.io/component': 'webhook', [MANAGED_BY_LABEL]: FIELD_MANAGER },
});

/** The endpoint is not active although its resource says so. */
const disabled = (why: string): Omit<Outcome<never>, 'value'> => ({
  status: 'False',
  reason: 'Disabled',
  message: `${why}; change the resource, or set spec.active to false and true, to begin again`,
  isStuck: true,
});

/** What is undefined is not so any more. */
const statusOf = (state: EndpointState): WebhookStatus =>
  ({
    endpointId: state.uuid,
    lastDeliveryTime: state.lastDeliveryAt?.toISOString(),
    lastStatusCode: state.lastStatusCode ?? undefined,
    failingSince: state.failingSince?.toISOString(),
    disabledReason: state.disabledReason ?? undefined,
  }) as WebhookStatus;
