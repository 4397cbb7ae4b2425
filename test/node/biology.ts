import { kubectlOk, type Platform } from '../support/programs/platform.ts';

interface OnPlatform {
  readonly platform: Platform;
}

/** The tenant of the steps. */
export const TENANT = 'biology';
export const SPACE = 'faculty';

/** host:port of the tenant's Service, at which kube-proxy answers. */
export const serviceAddress = ({ platform }: OnPlatform): Promise<string> =>
  kubectlOk(platform, ['-n', SPACE, 'get', 'service', TENANT, '-o', 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}']);

export const podNames = async ({ platform }: OnPlatform): Promise<string[]> =>
  (await kubectlOk(platform, ['-n', SPACE, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']))
    .split(' ')
    .filter((name) => name !== '');
