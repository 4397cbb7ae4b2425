import type * as crds from '../../../crds/types.generated.ts';
import { LTIREGISTRATIONS, WEBHOOKS } from '../../../crds/types.generated.ts';
import { SECRET } from '../../kube/kinds.ts';
import { ResourceApi } from '../../kube/resource.ts';
import type { KubeClient } from '../../kube/transport.ts';
import { defineKind, type Json, type Observed } from '../../kube/object.ts';
import type { Registered } from './lms/lms.ts';

type LtiRegistration = Json<crds.LtiRegistration>;

const LTI_REGISTRATION = defineKind<LtiRegistration>(LTIREGISTRATIONS);
const WEBHOOK = defineKind<Json<crds.Webhook>>(WEBHOOKS);

/** A tool that the demo LMS may launch, from its LtiRegistration: the data that an administrator would paste. */
export interface Tool extends Registered {
  /** `namespace/name` of its Tenant. */
  readonly tenant: string;
}

/** Returns the tools of every LtiRegistration of this issuer that is Ready. */
export async function toolsOf(client: KubeClient, issuer: string): Promise<Tool[]> {
  const all = await new ResourceApi(client, LTI_REGISTRATION).list();
  return all
    .flatMap((registration) => toolOf(registration, issuer) ?? [])
    .sort((one, other) => one.tenant.localeCompare(other.tenant));
}

function toolOf({ metadata, spec, status }: Observed<LtiRegistration>, issuer: string): Tool | undefined {
  const { loginInitiationUrl, redirectUri, launchUrl } = status ?? {};
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  const [deploymentId] = spec.deploymentIds ?? [];
  if (spec.platform.issuer !== issuer || !isReady || spec.clientId === undefined || deploymentId === undefined) return undefined;
  if (loginInitiationUrl === undefined || redirectUri === undefined || launchUrl === undefined) return undefined;
  return {
    tenant: `${metadata.namespace}/${spec.tenantRef.name}`,
    clientId: spec.clientId,
    deploymentId,
    redirectUris: [redirectUri],
    loginInitiationUrl,
    targetLinkUri: launchUrl,
  };
}

/** Returns the signing secrets of all Webhooks that deliver to this address. */
export async function secretsOf(client: KubeClient, url: string): Promise<string[]> {
  const webhooks = (await new ResourceApi(client, WEBHOOK).list()).filter(({ spec }) => spec.url === url);
  const secrets = new ResourceApi(client, SECRET);
  const found = await Promise.all(
    webhooks.map(async (webhook) => {
      const { name, key } = webhook.spec.secretRef ?? { name: `${webhook.metadata.name}-webhook`, key: 'secret' };
      return (await secrets.find({ namespace: webhook.metadata.namespace, name }))?.data?.[key];
    }),
  );
  return found.flatMap((value) => (value === undefined ? [] : Buffer.from(value, 'base64').toString('utf8')));
}
