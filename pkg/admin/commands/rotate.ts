import { TENANTS } from '../../../crds/types.generated.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { defineKind, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { type Condition, findCondition } from '../../kube/status.ts';
import { CREDENTIALS } from '../../store/postgres/registry.ts';
import type { Installation } from '../installation.ts';
import { CommandError } from '../../runtime/command-error.ts';

interface TenantObject extends KubeObject {
  status?: { conditions?: Condition[]; rotation?: { request: string } };
}

const TENANT = defineKind<TenantObject>(TENANTS);
const ANNOTATION = 'carrel.dev/rotate';

/** Longest time until a leading operator begins, if no rollout is running. */
const BEGIN_MS = 60_000;
const POLL_MS = 500;

interface RotateOptions {
  readonly installation: Installation;
}

/**
 * Asks the operator to replace credentials of a tenant, and waits until it has begun. Throws CommandError for an unknown
 * credential, for a Tenant that does not exist, and if the operator does not begin.
 */
export async function rotate(tenant: ObjectKey, names: readonly string[], { installation }: RotateOptions): Promise<void> {
  const unknown = names.filter((name) => name !== 'all' && !CREDENTIALS.some((known) => known === name));
  if (unknown.length > 0) throw new CommandError(`${unknown.join(', ')} is not one of ${CREDENTIALS.join(', ')}, all`);
  const client = await installation.cluster();
  const tenants = new ResourceApi(client, TENANT);
  const what = names.length === 0 ? 'all' : names.join(',');
  // The time makes it a new request, however soon it follows another.
  const request = `${what}/${new Date().toISOString()}`;
  try {
    await tenants
      .patch(tenant, { metadata: { annotations: { [ANNOTATION]: request } } }, { fieldManager: 'carrel' })
      .catch((error: unknown) => {
        if (isNotFound(error)) throw new CommandError(`there is no Tenant ${tenant.name} in namespace ${tenant.namespace}`);
        if (isForbidden(error))
          throw new CommandError(`you may not change Tenant ${tenant.name} in namespace ${tenant.namespace}`);
        throw error;
      });
    await untilBegun(tenants, tenant, request);
  } finally {
    await client.close();
  }
  process.stdout.write(
    `${tenant.name}: the rotation of ${what} has begun. Its pods are being replaced; ` +
      `kubectl describe tenant -n ${tenant.namespace} ${tenant.name} shows the steps (CredentialsReady).\n`,
  );
}

async function untilBegun(tenants: ResourceApi<TenantObject>, key: ObjectKey, request: string): Promise<void> {
  const until = performance.now() + BEGIN_MS;
  for (;;) {
    const { status } = await tenants.get(key);
    if (status?.rotation?.request === request) return;
    const found = findCondition(status?.conditions, 'CredentialsReady');
    if (found?.reason === 'RotationUnknown') throw new CommandError(`${key.name}: ${found.message}`);
    if (performance.now() > until)
      throw new CommandError(
        `${key.name}: the operator has not begun yet. It begins once all pods of the tenant are ready and ` +
          `no former pod is left; the annotation ${ANNOTATION} stays`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
