import type { Installation } from '../../pkg/admin/installation.ts';

/** What the commands find around them. */
export interface Surroundings {
  /** The checkout, or the folder of the image. */
  readonly root: string;
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the settings of the installation when a command needs them. */
export type FindInstallation = () => Promise<Installation>;

/**
 * The installation that the environment names, else the platform on this machine, of which a pod loads nothing. Throws
 * ConfigError.
 */
export async function installationFrom({ stateDirectory, env }: Omit<Surroundings, 'root'>): Promise<Installation> {
  const { installationOf } = await import('../../pkg/admin/installation.ts');
  return installationOf(env, {
    stores: async () => (await import('../../pkg/local/installation.ts')).storesOf(stateDirectory),
    cluster: async () => (await import('../../pkg/local/client.ts')).clientOf(stateDirectory),
  });
}
