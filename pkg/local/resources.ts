import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from './files.ts';
import { DEFAULT_ROUTER_PORT, paths, readSettings } from './home.ts';
import { kubectl } from './kubectl.ts';

/** Where operator and worker live in a cluster; here it holds the operator's lease. */
const NAMESPACE = 'carrel-system';
const APPLY = ['apply', '--server-side', '--force-conflicts', '--field-manager=carrel-up'];

/** Installs `crds/` and the operator's namespace, again after a change of them. Throws LocalError with the API server's words. */
export async function installResources(home: string, root: string): Promise<void> {
  const crds = join(root, 'crds');
  await kubectl(home, ...APPLY, '-f', crds);
  await kubectl(home, 'wait', '--for=condition=Established', '--timeout=30s', '-f', crds);
  const known = await kubectl(home, 'get', 'namespace', NAMESPACE, '--ignore-not-found', '-o', 'name');
  if (known.trim() === '') await kubectl(home, 'create', 'namespace', NAMESPACE);
}

/** Applies `config/samples` once per home: a tenant that a person changed or deleted stays so. Their LMS and receiver are the demo's, at this home's port. */
export async function applySamples(home: string, root: string): Promise<void> {
  const samples = join(root, 'config', 'samples');
  const { samples: applied, samplesHere } = paths(home);
  if (existsSync(applied)) return;
  const port = readSettings(home)?.routerPort ?? DEFAULT_ROUTER_PORT;
  mkdirSync(samplesHere, { recursive: true });
  for (const name of readdirSync(samples)) {
    const text = readFileSync(join(samples, name), 'utf8').replaceAll(`.localhost:${DEFAULT_ROUTER_PORT}`, `.localhost:${port}`);
    writeAtomically(join(samplesHere, name), text);
  }
  await kubectl(home, ...APPLY, '-f', samplesHere);
  writeAtomically(applied, '');
}
