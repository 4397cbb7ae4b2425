import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { V1KeyToPath, V1Volume } from '@kubernetes/client-node';
import type { Pod } from '../../kube/kinds.ts';
import type { Json } from '../../kube/object.ts';
import { type Container, fieldOf, NotStartable, secretValues, type Settings } from './environment.ts';

/**
 * A process has no mount namespace of its own here. Volumes are folders below the pod's. Each container gets the prefix of its
 * mount paths in `CARREL_VOLUME_ROOT`, and a volume at /tmp becomes its TMPDIR. Content is written once, when the pod starts; a
 * Secret that changes later reaches the next pod.
 */
const VOLUME_ROOT = 'CARREL_VOLUME_ROOT';

/**
 * Creates the volumes of a pod below `folder`. Throws NotStartable for a missing source, or a kind of volume that needs a real
 * node.
 */
export async function makeVolumes(pod: Pod, folder: string, settings: Settings): Promise<void> {
  for (const volume of pod.spec?.volumes ?? []) {
    const files = await contentOf(volume, pod, settings);
    const directory = join(folder, 'volumes', volume.name);
    mkdirSync(directory, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      const file = join(directory, normalize(`/${path}`));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: 0o600 });
    }
  }
}

/** Returns the environment by which the container finds its volumes. */
export function mountVolumes(container: Container, folder: string): Record<string, string> {
  const root = join(folder, 'roots', container.name);
  rmSync(root, { recursive: true, force: true });
  let temporary: string | undefined;
  for (const mount of container.volumeMounts ?? []) {
    const target = join(folder, 'volumes', mount.name, normalize(`/${mount.subPath ?? ''}`));
    const link = join(root, normalize(`/${mount.mountPath}`));
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target.replace(/\/$/, ''), link.replace(/\/$/, ''));
    if (normalize(mount.mountPath) === '/tmp') temporary = target;
  }
  return { [VOLUME_ROOT]: root, ...(temporary === undefined ? {} : { TMPDIR: temporary }) };
}

type Source = Pick<Json<V1Volume>, 'secret' | 'configMap' | 'downwardAPI'> & { serviceAccountToken?: unknown };
type Files = Record<string, string>;

async function contentOf(volume: Json<V1Volume>, pod: Pod, settings: Settings): Promise<Files> {
  if (volume.emptyDir) return {};
  if (volume.projected) {
    const sources: Files[] = [];
    for (const source of volume.projected.sources ?? []) {
      const secret = source.secret && { secretName: source.secret.name ?? '', ...source.secret };
      sources.push(await filesOf({ ...source, ...(secret ? { secret } : {}) } as Source, volume.name, pod, settings));
    }
    return Object.assign({}, ...sources) as Files;
  }
  return filesOf(volume, volume.name, pod, settings);
}

async function filesOf(source: Source, name: string, pod: Pod, settings: Settings): Promise<Files> {
  if (source.secret) {
    const { secretName = '', items, optional } = source.secret;
    return chosen('secret', secretName, await secretValues(settings, secretName), items, optional);
  }
  if (source.configMap) {
    const { name: configMap = '', items, optional } = source.configMap;
    return chosen('configmap', configMap, (await settings.configMap(configMap))?.data, items, optional);
  }
  if (source.downwardAPI) {
    return Object.fromEntries(
      (source.downwardAPI.items ?? []).map(({ path, fieldRef }) => [path, fieldRef ? fieldOf(pod, fieldRef.fieldPath) : '']),
    );
  }
  // A token for the API server is useless to a process that does not have its address, as here.
  if (source.serviceAccountToken) return {};
  throw new NotStartable(
    'CreateContainerConfigError',
    `volume ${name}: the process node supports only Secret, ConfigMap, downward API and emptyDir`,
  );
}

function chosen(
  kind: string,
  name: string,
  data: Files | undefined,
  items: Json<V1KeyToPath>[] | undefined,
  optional = false,
): Files {
  if (!data) {
    if (optional) return {};
    throw new NotStartable('CreateContainerConfigError', `${kind} "${name}" not found`);
  }
  if (!items) return data;
  return Object.fromEntries(
    items.flatMap(({ key, path }) => {
      const value = data[key];
      if (value === undefined && !optional)
        throw new NotStartable('CreateContainerConfigError', `${kind} "${name}" has no key ${key}`);
      return value === undefined ? [] : [[path, value]];
    }),
  );
}
