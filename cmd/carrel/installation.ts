import type { Installation } from '../../pkg/admin/installation.ts';

/** The environment of the commands. */
export interface Surroundings {
  /** The checkout, or the image's folder. */
  readonly root: string;
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the settings of the installation when a command needs them. */
export type FindInstallation = () => Promise<Installation>;

/**
 * Returns the installation that the environment names, otherwise the platform on this machine. A pod loads no module of the
 * latter. Throws ConfigError.
 */
export async function installationFrom({ stateDirectory, env }: Omit<Surroundings, 'root'>): Promise<Installation> {
  const { installationOf } = await import('../../pkg/admin/installation.ts');
  return installationOf(env, {
    stores: async () => (await import('../../pkg/local/installation.ts')).storesOf(stateDirectory),
    cluster: async () => (await import('../../pkg/local/client.ts')).clientOf(stateDirectory),
  });
}
