import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isAlreadyExists } from '../../../pkg/kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITION, type CustomResourceDefinition } from '../../../pkg/kube/kinds.ts';
import type { Condition } from '../../../pkg/kube/status.ts';
import type { Observed } from '../../../pkg/kube/object.ts';
import { ROOT } from '../backends/backends.ts';
import type { Cluster } from './operator.ts';
import { waitFor } from '../wait.ts';

/** Installs the definitions of the Gateway API's kinds where they are missing, and waits until the API server serves them. */
export async function installGatewayApi(cluster: Pick<Cluster, 'of'>): Promise<void> {
  const definitions = cluster.of(CUSTOM_RESOURCE_DEFINITION);
  for (const kind of ['gatewayclasses', 'gateways', 'httproutes']) {
    const definition = parse(readFileSync(join(ROOT, 'config/gateway-api', `${kind}.yaml`), 'utf8')) as CustomResourceDefinition;
    await definitions.create(definition).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    const key = { namespace: '', name: definition.metadata?.name ?? '' };
    await waitFor(`the definition of ${kind}`, async () =>
      (await definitions.get(key)).status?.conditions?.some((found) => found.type === 'Established' && found.status === 'True'),
    );
  }
}

/** Returns a condition as a controller writes it for the object's present generation. */
export const saying = (
  { metadata }: Observed,
  type: string,
  status: Condition['status'],
  reason = type,
  message = '',
): Condition => ({
  type,
  status,
  reason,
  message,
  observedGeneration: metadata.generation ?? 0,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
