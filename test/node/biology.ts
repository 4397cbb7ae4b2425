import { kubectlOk } from '../support/platform.ts';
import type { Installation } from './installation.ts';

/** The tenant of the steps. */
export const TENANT = 'biology';
export const SPACE = 'faculty';

/** host:port of the tenant's Service, at which kube-proxy answers. */
export const serviceAddress = ({ platform }: Installation): Promise<string> =>
  kubectlOk(platform, ['-n', SPACE, 'get', 'service', TENANT, '-o', 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}']);

export const podNames = async ({ platform }: Pick<Installation, 'platform'>): Promise<string[]> =>
  (await kubectlOk(platform, ['-n', SPACE, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']))
    .split(' ')
    .filter((name) => name !== '');
