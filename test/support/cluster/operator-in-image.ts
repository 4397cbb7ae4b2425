import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { Deployment } from '../../../pkg/kube/kinds.ts';
import { ROOT } from '../backends/backends.ts';

/** The arguments of node that the operator's pods have, for what `npm run build` has made of the sources. */
export function builtCommand(): string[] {
  const documents = parseAllDocuments(readFileSync(join(ROOT, 'config/manager/operator.yaml'), 'utf8')).map((document) =>
    document.toJS(),
  );
  const operator = (documents as Deployment[]).find(({ kind }) => kind === 'Deployment');
  const [, ...command] = operator?.spec?.template.spec?.containers[0]?.command ?? [];
  return command.map((argument) => (argument.endsWith('.js') ? join('dist', argument) : argument));
}

/**
 * Writes what a kubelet gives to a pod of this access; returns the environment that says where it is. No compile cache, as in the
 * image.
 */
export async function podEnvironment(folder: string, access: KubeConfig): Promise<NodeJS.ProcessEnv> {
  const { server = '', caData = '' } = access.getCurrentCluster() ?? {};
  const { hostname, port } = new URL(server);
  await writeFile(join(folder, 'token'), access.getCurrentUser()?.token ?? '');
  await writeFile(join(folder, 'ca.crt'), Buffer.from(caData, 'base64'));
  return {
    CARREL_SERVICE_ACCOUNT_DIR: folder,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    NODE_COMPILE_CACHE: undefined,
  };
}
