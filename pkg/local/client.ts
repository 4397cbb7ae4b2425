import type { KubeAccess } from '../kube/credentials.ts';
import { KubeClient } from '../kube/transport.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { readIfThere } from './files.ts';
import { apiserverUrl, pkiPaths } from './programs/controlplane.ts';
import { existingStateDirectory, type StateDirectory } from './state-directory.ts';

/** Returns a client of the platform's API server, as administrator. Throws CommandError if there is no platform. */
export const clientOf = (stateDirectory: string): KubeClient =>
  new KubeClient({
    kubeConfig: administrator(existingStateDirectory(stateDirectory)),
    metrics: createMetrics('carrel'),
    userAgent: 'carrel',
  });

/**
 * Takes the access from the platform's own settings. Reading a kubeconfig needs a library that takes 0.3 s of CPU to load, which
 * every `carrel status` would pay.
 */
function administrator(stateDirectory: StateDirectory): KubeAccess {
  const ca = readIfThere(pkiPaths(stateDirectory.path).authority.certificate) ?? '';
  const token = stateDirectory.settings.secrets.adminToken;
  return {
    getCurrentCluster: () => ({ name: 'carrel', server: apiserverUrl(stateDirectory), skipTLSVerify: false }),
    getCurrentUser: () => ({ name: 'carrel', token }),
    applyToHTTPSOptions: (options) => {
      options.ca = ca;
      options.headers = { ...options.headers, authorization: `Bearer ${token}` };
      return Promise.resolve();
    },
  };
}
