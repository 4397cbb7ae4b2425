import { kubectlOk } from '../support/programs/platform.ts';
import { type Installation, NAMESPACE } from './installation.ts';

/** kubectl in the namespace of the release. Gives standard output; throws when it fails. */
export const inSystem = ({ platform }: Pick<Installation, 'platform'>, ...args: string[]): Promise<string> =>
  kubectlOk(platform, ['-n', NAMESPACE, ...args]);

/**
 * Runs `carrel` with these arguments in a pod of the operator, as docs/operate/install.md says. Returns standard output. Throws
 * when it fails.
 */
export const carrelInOperator = (carrel: Pick<Installation, 'platform'>, ...args: string[]): Promise<string> =>
  inSystem(carrel, 'exec', 'deploy/carrel-operator', '--', 'node', 'cmd/carrel/main.js', ...args);
