import type { Kind, KubeObject } from './object.ts';
import type { JsonPatchOperation } from './resource.ts';
import { sameQuantity } from './quantity.ts';

/**
 * Returns the changes that applying `desired` would make to `live`, as a pure function. Paths are JSON pointers into `live`.
 *
 * Rules (they follow how server-side apply merges):
 * - Every desired leaf must equal the live one; quantities are compared by amount. Values that the server drops (`''`, `[]`, and
 *   `false`, `0`, `{}` in some fields) equal absent ones.
 * - Items of a list with a key are matched by it, those of an atomic list by order and length. Label selectors and values in
 *   atomic lists are compared whole, except for the server's defaults.
 * - In a pod template, lists with a key hold only desired items: the rest are `extras`. Elsewhere, items that others added stay.
 */
interface Difference {
  /** Desired values that differ. Applying corrects them. */
  readonly drift: readonly string[];
  /** Items, or whole lists, that were added where nothing may be added. Applying does not remove them. */
  readonly extras: readonly string[];
}

type Path = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;
interface Walk {
  readonly kind: Pick<Kind, 'group' | 'kind'>;
  readonly drift: string[];
  readonly extras: string[];
}

export function differences<T extends KubeObject>(kind: Pick<Kind, 'group' | 'kind'>, desired: T, live: T): Difference {
  const walk: Walk = { kind, drift: [], extras: [] };
  const { apiVersion: _version, kind: _kind, ...wanted } = desired;
  compare(walk, wanted, live, [], false);
  return { drift: walk.drift, extras: walk.extras };
}

/** Returns operations that remove the extras: deepest first, and within a list last first, so that the other paths stay valid. */
export function removalOf(extras: readonly string[]): JsonPatchOperation[] {
  const parts = extras.map((path) => ({
    path,
    depth: path.split('/').length,
    index: Number(path.slice(path.lastIndexOf('/') + 1)) || 0,
  }));
  return parts.toSorted((a, b) => b.depth - a.depth || b.index - a.index).map(({ path }) => ({ op: 'remove', path }));
}

/** Lists in a pod template. `envFrom` has no key, but its variables are part of the environment all the same. */
const POD_LISTS = ['containers', 'initContainers', 'volumes', 'imagePullSecrets', 'hostAliases', 'topologySpreadConstraints'];
const CONTAINER_LISTS = ['env', 'envFrom', 'volumeMounts', 'volumeDevices', 'ports'];
const POD_LIST_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  env: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  ports: ['containerPort', 'protocol'],
};
const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/** Maps that apply replaces as a whole. */
const ATOMIC_MAPS = new Set(['selector', 'podSelector', 'namespaceSelector', 'labelSelector', 'nodeSelector']);
/** Fields that the server adds to items of atomic lists. */
const DEFAULTS: Fields = { protocol: 'TCP', apiVersion: 'v1', expirationSeconds: 3600, defaultMode: 420 };
const DROPPED_WHEN_EMPTY = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'limits',
  'requests',
  'data',
  'binaryData',
]);
const DROPPED_WHEN_ZERO = new Set([
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
  'paused',
  'publishNotReadyAddresses',
  'minReadySeconds',
  'initialDelaySeconds',
]);
const QUANTITY_MAPS = new Set(['limits', 'requests', 'capacity', 'hard']);
const QUANTITY_FIELDS = new Set(['sizeLimit', 'averageValue', 'divisor', 'storage']);

function compare(walk: Walk, desired: unknown, live: unknown, path: Path, whole: boolean): void {
  if (desired === undefined || desired === null) return;
  if (live === undefined || live === null) {
    if (!isDropped(path.at(-1), desired)) walk.drift.push(pointer(path));
  } else if (Array.isArray(desired)) {
    if (Array.isArray(live)) compareLists(walk, desired, live, path, whole);
    else walk.drift.push(pointer(path));
  } else if (isFields(desired)) {
    if (isFields(live)) compareFields(walk, desired, live, path, whole);
    else walk.drift.push(pointer(path));
  } else if (!sameLeaf(desired, live, path)) {
    walk.drift.push(pointer(path));
  }
}

function compareFields(walk: Walk, desired: Fields, live: Fields, path: Path, inWhole: boolean): void {
  const whole = inWhole || ATOMIC_MAPS.has(String(path.at(-1)));
  for (const [name, value] of Object.entries(desired)) compare(walk, value, live[name], [...path, name], whole);
  if (whole) {
    const added = Object.entries(live).filter(
      ([name, value]) => (desired[name] ?? undefined) === undefined && !isDropped(name, value) && DEFAULTS[name] !== value,
    );
    walk.drift.push(...added.map(([name]) => pointer([...path, name])));
  }
  for (const name of closedLists(path)) {
    const list = live[name];
    const nothingWanted = isDropped(name, desired[name] ?? []);
    if (nothingWanted && Array.isArray(list) && list.length > 0) walk.extras.push(pointer([...path, name]));
  }
}

function compareLists(walk: Walk, desired: readonly unknown[], live: readonly unknown[], path: Path, whole: boolean): void {
  const keys = keysOf(walk.kind, path);
  if (keys) compareByKey(walk, keys, desired, live, path);
  else if (path.join('.') === 'metadata.finalizers') {
    if (!desired.every((item) => live.includes(item))) walk.drift.push(pointer(path));
  } else if (desired.length === live.length) {
    // A custom resource's schema has its own defaults, so only desired fields can be compared.
    const wholeItems = whole || isBuiltIn(walk.kind.group);
    for (const [index, item] of desired.entries()) compare(walk, item, live[index], [...path, index], wholeItems);
  } else if (desired.length > 0 || closedLists(path.slice(0, -1)).length === 0) {
    walk.drift.push(pointer(path));
  }
}

function compareByKey(
  walk: Walk,
  keys: readonly string[],
  desired: readonly unknown[],
  live: readonly unknown[],
  path: Path,
): void {
  const keyOf = (item: unknown): string => JSON.stringify(keys.map((key) => (item as Fields)[key] ?? KEY_DEFAULTS[key] ?? ''));
  const wanted = new Set(desired.map(keyOf));
  const indexes = new Map<string, number>();
  const surplus: number[] = [];
  for (const [index, item] of live.entries()) {
    const key = keyOf(item);
    if (!wanted.has(key) || indexes.has(key)) surplus.push(index);
    else indexes.set(key, index);
  }
  for (const item of desired) {
    const index = indexes.get(keyOf(item));
    if (index === undefined) walk.drift.push(pointer([...path, '-']));
    else compare(walk, item, live[index], [...path, index], false);
  }
  if (isInPodTemplate(path) && desired.length > 0) walk.extras.push(...surplus.map((index) => pointer([...path, index])));
}

/** Returns the names of the lists below `path` that hold desired items and nothing else. */
function closedLists(path: Path): readonly string[] {
  const inTemplate = withoutTemplate(path);
  if (inTemplate?.join('.') === 'spec') return POD_LISTS;
  return inTemplate?.length === 3 && typeof inTemplate[2] === 'number' ? CONTAINER_LISTS : [];
}

function keysOf(kind: Pick<Kind, 'kind'>, path: Path): readonly string[] | undefined {
  const name = String(path.at(-1));
  if (isInPodTemplate(path)) return Object.hasOwn(POD_LIST_KEYS, name) ? POD_LIST_KEYS[name] : undefined;
  const whole = path.join('.');
  if (whole === 'metadata.ownerReferences') return ['uid'];
  if (whole === 'spec.ports' && kind.kind === 'Service') return ['port', 'protocol'];
  return whole === 'secrets' && kind.kind === 'ServiceAccount' ? ['name'] : undefined;
}

/** Returns the path within the pod template; undefined outside of it. */
function withoutTemplate(path: Path): Path | undefined {
  if (path[0] !== 'spec') return undefined;
  if (path[1] === 'template') return path.slice(2);
  return path[1] === 'jobTemplate' && path[2] === 'spec' && path[3] === 'template' ? path.slice(4) : undefined;
}

const isInPodTemplate = (path: Path): boolean => withoutTemplate(path)?.[0] === 'spec';

function sameLeaf(desired: unknown, live: unknown, path: Path): boolean {
  if (desired === live) return true;
  const isQuantity = QUANTITY_MAPS.has(String(path.at(-2))) || QUANTITY_FIELDS.has(String(path.at(-1)));
  return isQuantity && sameQuantity(desired, live);
}

/**
 * Returns true if the server omits such a value. `false`, `0` and `{}` have a meaning of their own in most fields
 * (`automountServiceAccountToken: false`, `emptyDir: {}`), so these fields are listed by name.
 */
function isDropped(name: string | number | undefined, value: unknown): boolean {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return true;
  if (value === false || value === 0) return DROPPED_WHEN_ZERO.has(String(name));
  return isFields(value) && Object.keys(value).length === 0 && DROPPED_WHEN_EMPTY.has(String(name));
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const isBuiltIn = (group: string): boolean =>
  group === '' || !group.includes('.') || (group.endsWith('.k8s.io') && !group.startsWith('gateway.'));

/** RFC 6901. */
const pointer = (path: Path): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
