import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Kind, KubeObject } from '../../../pkg/kube/object.ts';
import { LTI_REGISTRATION, TENANT, WEBHOOK } from '../../../pkg/operator/kinds.ts';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { ROOT } from '../../support/backends/backends.ts';
import {
  type Cluster,
  newNamespace,
  registrationOf,
  sharedCluster,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { failing, good, scopedAfter, tenantAfter } from '../../support/cluster/resource-states.ts';

/** Flux, kpt and others wait by this library (hack/binaries/kstatus), which judges here. */
let program = '';
let cluster: Cluster;
beforeAll(async () => {
  program = await resolveBinary('kstatus', thisMachine(ROOT));
  cluster = await sharedCluster('idle');
});
afterAll(() => cluster?.close());

const statusesOf = (resources: readonly object[]): string[] =>
  (JSON.parse(execFileSync(program, { input: JSON.stringify(resources), encoding: 'utf8' })) as { status: string }[]).map(
    ({ status }) => status,
  );

test('a resource that the operator has not seen yet is in progress, in all three kinds', async () => {
  const namespace = await newNamespace(cluster);
  const made = <T extends KubeObject>(kind: Kind<T>, object: KubeObject) => cluster.of(kind).create(object as T);
  const tenantRef = { name: 'north' };
  await made(TENANT, tenantOf(namespace, unique()));
  await made(WEBHOOK, webhookOf(namespace, unique(), { tenantRef, url: 'https://example.com/', events: ['file.created'] }));
  await made(
    LTI_REGISTRATION,
    registrationOf(namespace, unique(), {
      tenantRef,
      platform: { preset: 'moodle', issuer: 'https://moodle.example' },
      clientId: 'c',
    }),
  );
  const seen = (
    await Promise.all([TENANT, WEBHOOK, LTI_REGISTRATION].map((kind) => cluster.of(kind as Kind<KubeObject>).list({ namespace })))
  ).flat();

  expect(statusesOf(seen)).toEqual(['InProgress', 'InProgress', 'InProgress']);
});

test('a Tenant is current when it is ready, and in progress when its change is not seen yet or a step waits', async () => {
  const ready = (await tenantAfter('WorkloadAvailable', good)) as { metadata: object };
  const changed = { ...ready, metadata: { ...ready.metadata, generation: 2 } };
  const deleted = { ...ready, metadata: { ...ready.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
  const waiting = await tenantAfter('WorkloadAvailable', failing('RollingOut'));

  expect(statusesOf([ready, changed, deleted, waiting])).toEqual(['Current', 'InProgress', 'Terminating', 'InProgress']);
});

test('a fault for a person to correct has failed, one that passes by itself is in progress, in all three kinds', async () => {
  const outcomes = async (reason: string, isTerminal: boolean) => [
    await tenantAfter('DatabaseReady', failing(reason, isTerminal)),
    await scopedAfter('Webhook', reason, isTerminal),
    await scopedAfter('LtiRegistration', reason, isTerminal),
  ];

  expect(statusesOf(await outcomes('ShardMissing', true))).toEqual(['Failed', 'Failed', 'Failed']);
  expect(statusesOf(await outcomes('Pending', false))).toEqual(['InProgress', 'InProgress', 'InProgress']);
});
