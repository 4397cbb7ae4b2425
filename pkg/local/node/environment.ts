import type { V1Container, V1EnvVar, V1EnvVarSource } from '@kubernetes/client-node';
import type { ConfigMap, Pod, Secret } from '../../kube/kinds.ts';
import type { Json } from '../../kube/object.ts';
import { quantityToNumber } from '../../kube/quantity.ts';

export type Container = Json<V1Container>;

/** The sources of a container's settings. */
export interface Settings {
  secret(name: string): Promise<Secret | undefined>;
  configMap(name: string): Promise<ConfigMap | undefined>;
}

/** The container cannot start as it is written; `reason` is the one that a kubelet shows in its waiting state. */
export class NotStartable extends Error {
  override readonly name = 'NotStartable';
  readonly reason: 'CreateContainerConfigError' | 'ErrImagePull' | 'RunContainerError' | 'CreatePodSandboxError';

  constructor(reason: NotStartable['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const missing = (message: string): NotStartable => new NotStartable('CreateContainerConfigError', message);

/**
 * Returns a container's environment as a kubelet makes it: `envFrom` first, then `env` in order, with `$(NAME)` replaced by
 * variables before it. Throws NotStartable, in a kubelet's words, for a missing Secret, ConfigMap or key that is not optional,
 * and for a value that no environment can hold.
 */
export async function resolveEnvironment(container: Container, pod: Pod, settings: Settings): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const source of container.envFrom ?? []) {
    const prefix = source.prefix ?? '';
    const all = source.secretRef
      ? await allOf('secret', source.secretRef, (name) => secretValues(settings, name))
      : await allOf('configmap', source.configMapRef ?? {}, async (name) => (await settings.configMap(name))?.data);
    for (const [key, value] of Object.entries(all)) values[prefix + key] = value;
  }
  for (const variable of container.env ?? []) {
    const value = await valueOf(variable, container, pod, settings);
    if (value !== undefined) values[variable.name] = variable.valueFrom ? value : expand(value, values);
  }
  const unfit = Object.entries(values).find(([, value]) => value.includes('\0'));
  if (unfit) throw missing(`environment variable ${unfit[0]} has a null byte in its value`);
  return values;
}

/** Replaces `$(NAME)` if NAME is known; `$$(NAME)` is an escaped `$(NAME)` (Kubernetes: dependent environment variables). */
export const expand = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\$\$|\$\(([^)]+)\)/g, (match, name: string | undefined) => (name === undefined ? '$' : (values[name] ?? match)));

async function allOf(
  kind: string,
  ref: { name?: string; optional?: boolean },
  read: (name: string) => Promise<Record<string, string> | undefined>,
): Promise<Record<string, string>> {
  const values = await read(ref.name ?? '');
  if (!values && !ref.optional) throw missing(`${kind} "${ref.name}" not found`);
  return values ?? {};
}

/** Returns the decoded content, or undefined if the Secret does not exist. */
export async function secretValues(settings: Settings, name: string): Promise<Record<string, string> | undefined> {
  const secret = await settings.secret(name);
  return (
    secret &&
    Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    )
  );
}

async function valueOf(
  variable: Json<V1EnvVar>,
  container: Container,
  pod: Pod,
  settings: Settings,
): Promise<string | undefined> {
  const from: Json<V1EnvVarSource> | undefined = variable.valueFrom;
  if (!from) return variable.value ?? '';
  const namespace = pod.metadata?.namespace ?? '';
  if (from.secretKeyRef) return keyOf('secret', 'Secret', namespace, from.secretKeyRef, (name) => secretValues(settings, name));
  if (from.configMapKeyRef)
    return keyOf(
      'configmap',
      'ConfigMap',
      namespace,
      from.configMapKeyRef,
      async (name) => (await settings.configMap(name))?.data ?? undefined,
    );
  if (from.fieldRef) return fieldOf(pod, from.fieldRef.fieldPath);
  if (from.resourceFieldRef) return resourceOf(container, from.resourceFieldRef.resource, from.resourceFieldRef.divisor);
  throw missing(`environment variable ${variable.name} has a source that the process node does not support`);
}

async function keyOf(
  kind: string,
  title: string,
  namespace: string,
  ref: { name?: string; key: string; optional?: boolean },
  read: (name: string) => Promise<Record<string, string> | undefined>,
): Promise<string | undefined> {
  const values = await read(ref.name ?? '');
  const value = values?.[ref.key];
  if (value !== undefined || ref.optional) return value;
  throw missing(values ? `couldn't find key ${ref.key} in ${title} ${namespace}/${ref.name}` : `${kind} "${ref.name}" not found`);
}

/** Returns a field of the pod by its path (downward API). */
export function fieldOf(pod: Pod, path: string): string {
  const entry = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (entry) return pod.metadata?.[entry[1] as 'labels' | 'annotations']?.[entry[2] ?? ''] ?? '';
  const fields: Record<string, string | undefined> = {
    'metadata.name': pod.metadata?.name,
    'metadata.namespace': pod.metadata?.namespace,
    'metadata.uid': pod.metadata?.uid,
    'spec.nodeName': pod.spec?.nodeName,
    'spec.serviceAccountName': pod.spec?.serviceAccountName,
    'status.hostIP': pod.status?.hostIP,
    'status.hostIPs': pod.status?.hostIP,
    'status.podIP': pod.status?.podIP,
    'status.podIPs': pod.status?.podIP,
  };
  if (!(path in fields)) throw missing(`field ${path} is not supported`);
  return fields[path] ?? '';
}

function resourceOf(container: Container, resource: string, divisor = '1'): string {
  const [kind = '', name = ''] = resource.split('.');
  const quantity = container.resources?.[kind as 'limits' | 'requests']?.[name];
  const by = quantityToNumber(divisor) || 1;
  return quantity === undefined ? '0' : String(Math.ceil(quantityToNumber(quantity) / by));
}
