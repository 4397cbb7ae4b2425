import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { SERVICE_ACCOUNT } from '../../../pkg/kube/kinds.ts';
import { defineKind, type Kind, type KubeObject } from '../../../pkg/kube/object.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import type { KubeClient } from '../../../pkg/kube/transport.ts';
import type { ApiAccess } from './apiserver.ts';
import { ROOT } from '../backends/backends.ts';

/** All documents of the YAML files of a folder. */
export const documentsOf = (folder: string): KubeObject[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(ROOT, folder, file), 'utf8')).map((document) => document.toJS() as KubeObject),
    );

export const KINDS: Record<string, Kind> = {
  ServiceAccount: SERVICE_ACCOUNT,
  ...Object.fromEntries(
    (['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding'] as const).map((kind) => [
      kind,
      defineKind({
        group: 'rbac.authorization.k8s.io',
        version: 'v1',
        kind,
        plural: `${kind.toLowerCase()}s`,
        namespaced: !kind.startsWith('Cluster'),
      }),
    ]),
  ),
};

const TOKEN_SECONDS = 24 * 3_600;

/** Creates a ServiceAccount with its roles and their bindings, and gives a kubeconfig with its token. */
export async function installAccess(api: ApiAccess, client: KubeClient, objects: readonly KubeObject[]): Promise<KubeConfig> {
  for (const object of objects) {
    const kind = KINDS[object.kind ?? ''];
    if (!kind) throw new Error(`the operator's rights hold a ${object.kind}`);
    await new ResourceApi(client, kind).create(object);
  }
  const { namespace, name } = objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  // Without this it ends after an hour, before a run of all tests on a slow machine does.
  const spec = { expirationSeconds: TOKEN_SECONDS };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const { status } = await client.request<{ status: { token: string } }>({ method: 'POST', path, body });
  const admin = api.kubeConfig.getCurrentCluster();
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { ...admin, name: 'test', server: api.url, skipTLSVerify: false },
    { name: 'operator', token: status.token },
  );
  return config;
}
