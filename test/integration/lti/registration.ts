import { newToolKey } from '../../../pkg/operator/ltiregistration/keys.ts';
import { privateKeyPlace } from '../../../pkg/lti/private-key.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer, tenantDataKey } from '../../../pkg/runtime/sealing.ts';
import type { TestTenant } from '../../support/server.ts';
import { Lms } from '../../support/lms/lms.ts';

export interface Registration {
  readonly lms: Lms;
  readonly clientId: string;
  readonly toolId: number;
  readonly platformId: number;
  /** Of the key that signs the tool's messages to the LMS. */
  readonly keyId: string;
}

/** What a worker opens the registration's private key with: its CARREL_PLATFORM_KEYS, and the id that the registry knows the tenant by. */
interface Sealing {
  readonly platformKeys: string;
  readonly tenantId: string;
}

/** An LMS that is registered at the tenant, as the operator writes it, and the tenant at the LMS. Only with `sealing` it has its private key. */
export async function registeredLms(tenant: TestTenant, standing?: Registration, sealing?: Sealing): Promise<Registration> {
  const lms = standing?.lms ?? (await Lms.start());
  const clientId = `client-${systemRandom.hex(5)}`;
  const platformId =
    standing?.platformId ??
    (
      await tenant.db.tables.ltiPlatforms.insert({
        issuer: lms.issuer,
        authEndpoint: lms.authEndpoint,
        tokenEndpoint: lms.tokenEndpoint,
        jwksEndpoint: lms.jwksEndpoint,
      })
    ).id;
  const { kid: keyId, publicKey, privateKey } = await newToolKey();
  const managedRef = `test/${clientId}`;
  const tool = await tenant.db.tables.ltiTools.insert({
    clientId,
    consumerKey: clientId,
    toolUrl: tenant.url,
    platformId,
    keyId,
    publicKey,
    privateKey: sealing ? sealed(privateKey, managedRef, sealing) : null,
    managedBy: 'kubernetes',
    managedRef,
  });
  await tenant.db.tables.ltiDeployments.insert({ toolId: tool.id, platformId, deploymentId: '1' });
  lms.register({
    clientId,
    deploymentId: '1',
    redirectUris: [`${tenant.url}/launch`],
    loginInitiationUrl: `${tenant.url}/login_initiation`,
    targetLinkUri: `${tenant.url}/lti/launch`,
  });
  return { lms, clientId, toolId: tool.id, platformId, keyId };
}

function sealed(privateKey: string, reference: string, { platformKeys, tenantId }: Sealing): string {
  const keys = parseSealingKeys(platformKeys).map((key) => tenantDataKey(key, tenantId));
  return new Sealer(keys, systemRandom).seal(privateKey, privateKeyPlace(tenantId, reference));
}
