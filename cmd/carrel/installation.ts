import type { Installation } from '../../pkg/admin/installation.ts';

/** The checkout or image, and what a person has in their environment. */
export interface Surroundings {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The installation that the environment names, else the platform on this machine, of which a pod loads nothing. Throws ConfigError. */
export async function installationFrom({ stateDirectory, env }: Surroundings): Promise<Installation> {
  const { installationOf } = await import('../../pkg/admin/installation.ts');
  return installationOf(env, {
    stores: async () => (await import('../../pkg/local/installation.ts')).storesOf(stateDirectory),
    cluster: async () => (await import('../../pkg/local/client.ts')).clientOf(stateDirectory),
  });
}
