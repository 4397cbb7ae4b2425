import { newToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import { privateKeyAssociatedData } from '../../../pkg/lti/private-key.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseDataKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
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

/** An LMS that is registered at the tenant, as the operator writes it, and the tenant at the LMS. */
export async function registeredLms(tenant: TestTenant, existing?: Registration): Promise<Registration> {
  const lms = existing?.lms ?? (await Lms.start());
  const clientId = `client-${systemRandom.hex(5)}`;
  const platformId =
    existing?.platformId ??
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
  const sealer = new Sealer(parseDataKeys(tenant.config.CARREL_DATA_KEYS), systemRandom);
  const tool = await tenant.db.tables.ltiTools.insert({
    clientId,
    consumerKey: clientId,
    toolUrl: tenant.url,
    platformId,
    keyId,
    publicKey,
    privateKey: sealer.seal(privateKey, privateKeyAssociatedData(tenant.tenantId, managedRef)),
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
