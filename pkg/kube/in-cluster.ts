import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeAccess } from './credentials.ts';

/** The directory in which the kubelet puts the token of a pod's ServiceAccount and the API server's CA. */
export const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Returns the access of a pod's ServiceAccount; undefined outside of a pod. It matches KubeConfig.loadFromCluster() without
 * loading all of @kubernetes/client-node, which takes 30 MB. Both files are read at each use, since the kubelet replaces them.
 */
export function inClusterAccess(env: NodeJS.ProcessEnv, directory = SERVICE_ACCOUNT_DIR): KubeAccess | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const [token, ca] = [join(directory, 'token'), join(directory, 'ca.crt')];
  if (!host || !port || !existsSync(token)) return undefined;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    getCurrentCluster: () => ({ name: 'in-cluster', server, caFile: ca, skipTLSVerify: false }),
    getCurrentUser: () => null,
    applyToHTTPSOptions: async (options) => {
      options.ca = await readFile(ca);
      options.headers = { ...options.headers, authorization: `Bearer ${(await readFile(token, 'utf8')).trim()}` };
    },
  };
}
