import { isForbidden } from '../../kube/errors.ts';
import { NAMESPACE } from '../../kube/kinds.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { leftTenants, type LeftTenant, type NamespaceUid, reclaimTenants } from '../../store/postgres/reclaim.ts';
import type { Installation } from '../installation.ts';
import { CommandError, messageOf } from '../../runtime/command-error.ts';
import { withRegistry } from '../registry-access.ts';

interface Options {
  readonly installation: Installation;
  /** False: only report what the command would do. */
  readonly isMeant: boolean;
}

/**
 * Assigns tenants of lost namespaces to the present namespaces of these names, or of all names if none is given. Throws
 * CommandError.
 */
export async function reclaim(names: readonly string[], { installation, isMeant }: Options): Promise<void> {
  const present = await presentNamespaces(installation);
  const wanted = names.length === 0 ? present : names.map((name) => namespaceOf(present, name));
  await withRegistry(installation, async (registry) => {
    const left = await leftTenants(registry, present);
    const hasNamespace = ({ namespace }: LeftTenant): boolean => wanted.some(({ name }) => name === namespace);
    const given = isMeant ? await reclaimTenants(registry, wanted) : left.filter(hasNamespace);
    for (const tenant of given)
      process.stdout.write(`${tenant.slug}: of Tenant ${tenant.namespace}/${tenant.name}, ${tenant.state}\n`);
    const without = names.length === 0 ? left.filter((tenant) => !hasNamespace(tenant)) : [];
    if (without.length > 0)
      process.stdout.write(`${counted(without.length)} of namespaces that are not there: ${namespacesOf(without).join(', ')}\n`);
    process.stdout.write(`${summary(given, isMeant)}\n`);
  });
}

const namespaceOf = (present: readonly NamespaceUid[], name: string): NamespaceUid => {
  const found = present.find((namespace) => namespace.name === name);
  if (!found) throw new CommandError(`there is no namespace ${name}. Apply it first; nothing has changed`);
  return found;
};

function summary(given: readonly LeftTenant[], isMeant: boolean): string {
  if (given.length === 0) return 'No tenant belongs to a former namespace. Nothing has changed.';
  const whose = `the present ${namespacesOf(given).length === 1 ? 'namespace of this name' : 'namespaces of these names'}`;
  return isMeant
    ? `${counted(given.length)} now belong${given.length === 1 ? 's' : ''} to ${whose}. ` +
        'The operator checks their Tenants within 30 s.'
    : `${counted(given.length)} would belong to ${whose}. Nothing has changed; to do it, add --yes.`;
}

/** If the operator serves named namespaces, its account may not read others. */
async function presentNamespaces(installation: Installation): Promise<NamespaceUid[]> {
  const client = await installation.cluster();
  const api = new ResourceApi(client, NAMESPACE);
  const scopes = installation.tenantNamespaces;
  try {
    const lists = scopes.length === 0 ? [api.list()] : scopes.map((name) => api.list({ fieldSelector: `metadata.name=${name}` }));
    return (await Promise.all(lists)).flat().map(({ metadata: { name, uid } }) => ({ name, uid }));
  } catch (error) {
    if (isForbidden(error))
      throw new CommandError(`namespaces cannot be listed: ${messageOf(error)}. Run this in the operator's pod`);
    throw error;
  } finally {
    await client.close();
  }
}

const namespacesOf = (tenants: readonly LeftTenant[]): string[] => [...new Set(tenants.map(({ namespace }) => namespace))];
const counted = (count: number): string => `${count} ${count === 1 ? 'tenant' : 'tenants'}`;
