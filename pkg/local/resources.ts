import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from './files.ts';
import { DEFAULT_ROUTER_PORT, paths, readSettings } from './state-directory.ts';
import { kubectl } from './kubectl.ts';

/** The namespace of operator and worker in a cluster; here it holds the operator's lease. */
const NAMESPACE = 'carrel-system';
const APPLY = ['apply', '--server-side', '--force-conflicts', '--field-manager=carrel-up'];

/**
 * Installs `crds/`, the Gateway API, the operator's namespace and the router's Gateway, and again after they change. Throws
 * CommandError with the API server's words.
 */
export async function installResources(stateDirectory: string, root: string): Promise<void> {
  const crds = ['crds', 'config/gateway-api'].flatMap((folder) => ['-f', join(root, folder)]);
  await kubectl(stateDirectory, ...APPLY, ...crds);
  await kubectl(stateDirectory, 'wait', '--for=condition=Established', '--timeout=30s', ...crds);
  const known = await kubectl(stateDirectory, 'get', 'namespace', NAMESPACE, '--ignore-not-found', '-o', 'name');
  if (known.trim() === '') await kubectl(stateDirectory, 'create', 'namespace', NAMESPACE);
  await kubectl(stateDirectory, ...APPLY, '-f', join(root, 'config/local/gateway.yaml'));
}

/**
 * Applies `config/samples` once per state directory: a tenant that a person changed or deleted stays that way. The samples' LMS
 * and receiver are the demo's, at this state directory's port. If that port has changed since, resources that still name the
 * former port are updated.
 */
export async function applySamples(stateDirectory: string, root: string): Promise<void> {
  const { samples: applied, samplesHere } = paths(stateDirectory);
  const port = readSettings(stateDirectory)?.routerPort ?? DEFAULT_ROUTER_PORT;
  if (!existsSync(applied)) {
    writeSamples(stateDirectory, root, port);
    await kubectl(stateDirectory, ...APPLY, '-f', samplesHere);
    writeAtomically(applied, '');
  } else if (formerPort(samplesHere) !== port) {
    if (existsSync(samplesHere)) await followPort(stateDirectory, port);
    writeSamples(stateDirectory, root, port);
  }
}

function writeSamples(stateDirectory: string, root: string, port: number): void {
  const samples = join(root, 'config', 'samples');
  const { samplesHere } = paths(stateDirectory);
  mkdirSync(samplesHere, { recursive: true });
  for (const name of readdirSync(samples)) {
    const text = readFileSync(join(samples, name), 'utf8').replaceAll(`.localhost:${DEFAULT_ROUTER_PORT}`, `.localhost:${port}`);
    writeAtomically(join(samplesHere, name), text);
  }
}

const textOf = (samplesHere: string): string =>
  existsSync(samplesHere)
    ? readdirSync(samplesHere)
        .map((name) => readFileSync(join(samplesHere, name), 'utf8'))
        .join('\n')
    : '';

/** Returns the port that the samples were last written for. */
const formerPort = (samplesHere: string): number => Number(/\.localhost:(\d+)/.exec(textOf(samplesHere))?.[1]);

interface Sample {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: object;
}

async function followPort(stateDirectory: string, port: number): Promise<void> {
  const { samplesHere } = paths(stateDirectory);
  const found = await kubectl(stateDirectory, 'get', '-f', samplesHere, '--ignore-not-found', '-o', 'json');
  if (found.trim() === '') return;
  const { items, ...one } = JSON.parse(found) as Sample & { items?: Sample[] };
  const former = new RegExp(`\\.localhost:${formerPort(samplesHere)}(?!\\d)`, 'g');
  for (const { kind, metadata, spec } of items ?? [one]) {
    const before = JSON.stringify(spec ?? {});
    const after = before.replaceAll(former, `.localhost:${port}`);
    if (after === before) continue;
    const namespaceArguments = metadata.namespace === undefined ? [] : ['-n', metadata.namespace];
    await kubectl(stateDirectory, 'patch', kind, metadata.name, ...namespaceArguments, '--type=merge', '-p', `{"spec":${after}}`);
  }
}
