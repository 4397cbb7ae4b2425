import { isForbidden } from '../kube/errors.ts';
import type { KubeObject, Observed } from '../kube/object.ts';
import type { ResourceApi } from '../kube/resource.ts';
import { CommandError, messageOf } from '../runtime/command-error.ts';

/**
 * Returns all resources of a kind in these namespaces, since the operator's account may list nowhere else. Throws CommandError if
 * it may not list.
 */
export async function listIn<T extends KubeObject>(api: ResourceApi<T>, namespaces: readonly string[]): Promise<Observed<T>[]> {
  const listed = namespaces.length > 0 ? namespaces : [undefined];
  const found = await Promise.all(
    listed.map(async (namespace) => {
      try {
        return await api.list(namespace === undefined ? {} : { namespace });
      } catch (error) {
        if (isForbidden(error)) throw new CommandError(forbidden(api.kind.plural, namespace, messageOf(error)));
        throw error;
      }
    }),
  );
  return found.flat();
}

const forbidden = (resources: string, namespace: string | undefined, message: string): string =>
  namespace === undefined
    ? `${resources} cannot be listed: ${message}. If the operator serves named namespaces, run this in its pod, ` +
      'or set CARREL_TENANT_NAMESPACES as the operator has it'
    : `${resources} of namespace ${namespace} cannot be listed: ${message}. If it was deleted, remove it from tenants.namespaces`;
