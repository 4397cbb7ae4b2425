import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import type { ApiAccess } from './apiserver.ts';

/** The part of OpenAPI that schemas use. */
interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** Paths below /openapi/v3 with the kinds of the chart. */
const GROUPS = [
  'api/v1',
  'apis/apps/v1',
  'apis/autoscaling/v2',
  'apis/batch/v1',
  'apis/networking.k8s.io/v1',
  'apis/policy/v1',
  'apis/rbac.authorization.k8s.io/v1',
  'apis/apiextensions.k8s.io/v1',
  'apis/carrel.dev/v1alpha1',
];

/** Returns kubeconform's `KindSuffix`: `-apps-v1`, or `-v1` in the core group. It has the group up to the first dot. */
const suffixOf = (group: string, version: string): string =>
  [...(group === '' ? [] : [group.split('.')[0]]), version].map((part) => `-${part}`).join('');

/**
 * Writes a JSON schema for kubeconform per kind of the chart, made from the API server's own OpenAPI document: nothing is fetched
 * from elsewhere. An unknown field of an object is wrong. The Prometheus Operator's kinds, which this API server does not have,
 * get schemas of our own.
 */
export async function writeSchemas({ kubeConfig }: ApiAccess, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const client = new KubeClient({ kubeConfig, metrics: createMetrics('schemas') });
  const write = (kind: string, suffix: string, schema: object): void =>
    writeFileSync(join(folder, `${kind.toLowerCase()}${suffix}.json`), JSON.stringify(schema));
  try {
    for (const path of GROUPS) {
      const { components } = await client.request<{ components: { schemas: Record<string, Schema> } }>({
        method: 'GET',
        path: `/openapi/v3/${path}`,
      });
      for (const schema of Object.values(components.schemas)) close(schema);
      for (const [name, schema] of Object.entries(components.schemas))
        for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
          if (path.endsWith(`${group}/${version}`) || (group === '' && path === `api/${version}`))
            write(kind, suffixOf(group, version), { $ref: `#/components/schemas/${name}`, components });
    }
  } finally {
    await client.close();
  }
  for (const [kind, spec] of Object.entries(PROMETHEUS_KINDS)) write(kind, '-monitoring-v1', object({ ...HEAD, spec }));
}

/** Forbids fields that the schema does not name. */
function close(schema: Schema): void {
  if (schema.properties) {
    for (const property of Object.values(schema.properties)) close(property);
    if (schema.additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'])
      schema.additionalProperties = false;
  }
  if (typeof schema.additionalProperties === 'object') close(schema.additionalProperties);
  if (schema.items) close(schema.items);
}

const text = { type: 'string' };
const texts = { type: 'object', additionalProperties: text };
const list = (items: object): object => ({ type: 'array', items });
const object = (properties: Record<string, object>): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter(
    (name) => name !== 'namespaceSelector' && name !== 'relabelings' && name !== 'honorLabels' && name !== 'annotations',
  ),
  additionalProperties: false,
});
const HEAD = {
  apiVersion: { enum: ['monitoring.coreos.com/v1'] },
  kind: text,
  metadata: object({ name: text, namespace: text, labels: texts }),
};
const endpoints = list(
  object({
    port: text,
    path: text,
    interval: text,
    honorLabels: { type: 'boolean' },
    relabelings: list(object({ sourceLabels: list(text), targetLabel: text })),
  }),
);
const selector = object({ matchLabels: texts });
const alert = object({ alert: text, expr: text, for: text, labels: texts, annotations: texts });
const recording = object({ record: text, expr: text });

/** The fields of the Prometheus Operator's kinds that the chart uses, by its API reference (monitoring.coreos.com/v1). */
const PROMETHEUS_KINDS = {
  PodMonitor: object({ namespaceSelector: object({ any: { type: 'boolean' } }), selector, podMetricsEndpoints: endpoints }),
  ServiceMonitor: object({ selector, endpoints }),
  PrometheusRule: object({ groups: list(object({ name: text, rules: list({ anyOf: [alert, recording] }) })) }),
};
