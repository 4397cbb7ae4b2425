import type { DeploymentPolicy } from '../../../pkg/lti/registrations/deployment-requests.sql.ts';
import { type KeySource, syncRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import { givenToolKey, type ToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { newRsaKeys } from '../../../pkg/local/demo/lms/rsa-keys.ts';
import type { TestTenant } from '../programs/server.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';

export interface Registration {
  readonly lms: Lms;
  readonly clientId: string;
  readonly toolId: number;
  readonly platformId: number;
  /** The id of the key that signs the tool's messages to the LMS. */
  readonly keyId: string;
}

const DEPLOYMENT = '1';

/** The deployments of a resource; without them it lists the LMS's own. */
export interface Deployments {
  readonly deploymentPolicy?: DeploymentPolicy;
  readonly deploymentIds?: readonly string[];
}

/** Makes a key as `newToolKey` does, for less CPU. */
export const cheapToolKey = (): Promise<ToolKey> =>
  givenToolKey(newRsaKeys().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());

const usedIssuers = new Set<string>();

/** Starts an LMS whose issuer is new to this test file: the system may assign the port of an LMS that has stopped. */
async function startLms(): Promise<Lms> {
  const lms = await Lms.start();
  if (usedIssuers.has(lms.issuer)) {
    const another = await startLms();
    await lms.stop();
    return another;
  }
  usedIssuers.add(lms.issuer);
  return lms;
}

/**
 * A tenant that is registered at an LMS, and the LMS at the tenant as the operator registers it for the resource `test/<client
 * id>`. `existing`: a registration whose LMS this one is of too; without it the LMS is new and the caller stops it.
 */
export async function registeredLms(
  tenant: TestTenant,
  existing?: Pick<Registration, 'lms'>,
  deployments: Deployments = {},
): Promise<Registration> {
  const lms = existing?.lms ?? (await startLms());
  const clientId = `client-${systemRandom.hex(5)}`;
  return registeredAs(tenant, `test/${clientId}`, lms, clientId, deployments);
}

/** Registers the ids that the LMS chose, for the resource `test/<name>`. */
export const registeredBy = (
  tenant: TestTenant,
  name: string,
  lms: Lms,
  { clientId, ...deployments }: { readonly clientId: string; readonly deploymentId: string } & Deployments,
): Promise<Registration> => registeredAs(tenant, `test/${name}`, lms, clientId, deployments);

/**
 * The registration after its resource was changed: at another LMS, or by another client id. What is left out stays as
 * `registeredLms` made it.
 */
export function changedTo(
  tenant: TestTenant,
  at: Registration,
  { lms = at.lms, clientId = at.clientId, ...deployments }: { lms?: Lms; clientId?: string } & Deployments,
): Promise<Registration> {
  return registeredAs(tenant, `test/${at.clientId}`, lms, clientId, deployments);
}

/** Ways in which the key that signs is replaced: `spec.keySecretRef` names another, or `spec.keyRotationPeriod` is over. */
export const ROTATIONS = ['by hand', 'by schedule'] as const;

const HOUR_MS = 3_600_000;

/** The registration after its key was replaced; the former one stays published. */
export async function rotated(tenant: TestTenant, at: Registration, how: (typeof ROTATIONS)[number]): Promise<Registration> {
  const reference = `test/${at.clientId}`;
  if (how === 'by hand') return registeredAs(tenant, reference, at.lms, at.clientId, {}, { given: await cheapToolKey() });
  const step = (hours: number): Promise<Registration> =>
    registeredAs(
      tenant,
      reference,
      at.lms,
      at.clientId,
      {},
      { period: 2 * HOUR_MS, now: new Date(systemClock.now().getTime() + hours * HOUR_MS) },
    );
  await step(1.5);
  return step(3);
}

async function registeredAs(
  tenant: TestTenant,
  reference: string,
  lms: Lms,
  clientId: string,
  {
    deploymentPolicy = 'Listed',
    deploymentId = DEPLOYMENT,
    deploymentIds = [deploymentId],
  }: Deployments & { readonly deploymentId?: string } = {},
  source: Partial<KeySource> = {},
): Promise<Registration> {
  const wanted = {
    platform: {
      issuer: lms.issuer,
      authEndpoint: lms.authEndpoint,
      tokenEndpoint: lms.tokenEndpoint,
      jwksEndpoint: lms.jwksEndpoint,
      platformName: null,
      tokenAudience: null,
      frameAncestors: [],
    },
    tool: {
      clientId,
      consumerKey: clientId,
      toolUrl: tenant.url,
      scope: 'openid',
      deepLinkingResponseMode: 'FormPost' as const,
      deploymentPolicy,
      isActive: true,
    },
    deploymentIds,
  };
  const keys = { given: undefined, generate: cheapToolKey, period: undefined, now: systemClock.now(), ...source };
  await syncRegistration(tenant.rows, reference, wanted, keys);
  const tool = await tenant.db.tables.ltiTools.find({ managedRef: reference });
  if (!tool?.platformId || !tool.keyId)
    throw new Error(`the registration of ${clientId} was not written: ${JSON.stringify(tool)}`);
  lms.register({
    clientId,
    deploymentId,
    redirectUris: [`${tenant.url}/launch`],
    loginInitiationUrl: `${tenant.url}/login_initiation`,
    targetLinkUri: `${tenant.url}/lti/launch`,
  });
  return { lms, clientId, toolId: tool.id, platformId: tool.platformId, keyId: tool.keyId };
}
