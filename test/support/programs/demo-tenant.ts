import { randomBytes } from 'node:crypto';
import { Api } from '../clients/api.ts';
import { apply, getJson, kubectlOk, secretValues, type Platform } from './platform.ts';

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
}

export interface TenantObject {
  metadata: { name: string; generation: number; uid: string };
  status?: {
    tenantId?: string;
    appUrl?: string;
    ltiUrl?: string;
    apiUrl?: string;
    conditions?: Condition[];
    readyReplicas?: number;
  };
}

/** A tenant that a person applied, in a namespace of its own. */
export interface DemoTenant {
  readonly namespace: string;
  readonly name: string;
  readonly apiUrl: string;
  readonly anonymous: Api;
  /** The first administrator. */
  readonly admin: Api;
}

export const uniqueName = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

export const tenantObject = (namespace: string, name: string, spec: object = {}): object => ({
  apiVersion: 'carrel.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name, namespace },
  spec,
});

/** Applies a Namespace and a Tenant, waits as GitOps does, and signs in. */
export async function demoTenant(where: Platform, spec: object = {}): Promise<DemoTenant> {
  const namespace = uniqueName('team');
  const name = uniqueName('t');
  await apply(where, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await apply(where, tenantObject(namespace, name, spec));
  await waitReady(where, namespace, `tenant/${name}`);
  return signIn(where, namespace, name);
}

export const waitReady = (where: Platform, namespace: string, resource: string, limitSeconds = 90): Promise<string> =>
  kubectlOk(where, ['wait', '--for=condition=Ready', resource, '-n', namespace, `--timeout=${limitSeconds}s`]);

export async function signIn(where: Platform, namespace: string, name: string): Promise<DemoTenant> {
  const tenant = await getJson<TenantObject>(where, 'tenant', name, '-n', namespace);
  const apiUrl = tenant.status?.apiUrl ?? '';
  const anonymous = new Api(apiUrl);
  const { email = '', password = '' } = await secretValues(where, namespace, `${name}-admin`);
  return { namespace, name, apiUrl, anonymous, admin: await anonymous.login(email, password) };
}

export async function conditionOf(
  where: Platform,
  namespace: string,
  resource: string,
  type: string,
): Promise<Condition | undefined> {
  const object = await getJson<TenantObject>(where, ...resource.split('/'), '-n', namespace);
  return object.status?.conditions?.find((condition) => condition.type === type);
}
