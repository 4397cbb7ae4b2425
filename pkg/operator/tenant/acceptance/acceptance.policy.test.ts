import { expect, test } from '@jest/globals';
import { BASIC_CONNECTIONS } from '../../../store/postgres/registry.ts';
import { connectionsOf } from '../database/role-connections.ts';
import { settingsWith, tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';
import { fieldsIgnoredOfTenant } from '../../unsupported.policy.ts';
import { accept, repositoryOf } from './acceptance.policy.ts';

const refusal = (spec: Parameters<typeof tenantWith>[0], settings = settingsWith()): string | undefined => {
  const found = accept(tenantWith(spec), settings, ['one', 'two']);
  return 'reason' in found ? `${found.reason}: ${found.message}` : undefined;
};

test('a Tenant of defaults is accepted, with the hosts of its slug', () => {
  expect(accept(tenantWith(), settingsWith(), ['one'])).toEqual({
    slug: 'north',
    hosts: { app: 'north.files.example', lti: 'lti.north.files.example' },
    addresses: {
      appUrl: 'https://north.files.example',
      ltiUrl: 'https://lti.north.files.example',
      apiUrl: 'https://north.files.example/api/v1',
    },
    connections: BASIC_CONNECTIONS,
  });
});

test.each<[Parameters<typeof tenantWith>[0], string]>([
  [
    { image: 'docker.io/evil:1' },
    'ImageNotAllowed: spec.image: this operator accepts only images of registry.example:5000/carrel, mirror.example/carrel',
  ],
  [
    { exposure: { type: 'Ingress', annotations: { 'a/b': '1', team: 'x' } } },
    'AnnotationNotAllowed: spec.exposure.annotations: this operator does not accept a/b',
  ],
  [
    { pod: { labels: { team: 'x', 'app.kubernetes.io/name': 'other' } } },
    'PodFieldNotAllowed: spec.pod.labels: this operator does not accept app.kubernetes.io/name',
  ],
  [
    { pod: { annotations: { 'iam.example/role': 'admin', 'backup.example/on': '1' } } },
    'PodFieldNotAllowed: spec.pod.annotations: this operator does not accept iam.example/role',
  ],
  [
    { pod: { tolerations: [{ operator: 'Exists' }, { key: 'dedicated', operator: 'Exists' }] } },
    'PodFieldNotAllowed: spec.pod.tolerations: this operator does not accept *',
  ],
  [
    { pod: { priorityClassName: 'system-node-critical' } },
    'PodFieldNotAllowed: spec.pod.priorityClassName: this operator does not accept system-node-critical',
  ],
  [
    { database: { poolSize: 5, shard: 'three' } },
    'ShardUnknown: spec.database.shard: there is no shard three; there are one, two',
  ],
  [{ storage: { defaultUserQuota: '9Pi' } }, 'SizeTooLarge: spec.storage.defaultUserQuota is more than 9007199254740991 bytes'],
  [
    { replicas: 100, database: { poolSize: 50 } },
    'ConnectionsExceeded: spec.database.poolSize 50 × (spec.replicas 100 + 1 during a rollout) + 2 are 5052 ' +
      'connections to Postgres; this operator allows a tenant 50 (CARREL_MAX_CONNECTIONS_PER_TENANT)',
  ],
  [
    { autoscaling: { min: 1, max: 20, targetCPUPercent: 80 } },
    'ConnectionsExceeded: spec.database.poolSize 5 × (spec.autoscaling.max 20 + 1 during a rollout) + 2 are 107 ' +
      'connections to Postgres; this operator allows a tenant 50 (CARREL_MAX_CONNECTIONS_PER_TENANT)',
  ],
  [{ hosts: { app: 'api.files.example' } }, 'HostReserved: api.files.example is the shared API host; take another'],
  [{ slug: 'lms' }, 'HostReserved: this operator reserves the host lms.files.example; set spec.hosts, since lms would be there'],
  [
    { hosts: { app: 'south.files.example' } },
    'HostNotAllowed: spec.hosts: south.files.example belongs to the slug south; choose another host',
  ],
  [{ slug: 'api' }, 'HostReserved: api.files.example is the shared API host; set spec.hosts, since api would be there'],
])('%j is refused', (spec, message) => {
  expect(refusal(spec)).toBe(message);
});

const nightly = {
  name: 'nightly',
  kind: 'empty_trash',
  cron: '0 3 * * *',
  timeZone: 'UTC',
  active: true,
  catchUp: true,
} as const;
test.each([
  [{ cron: '0 0 30 2 *' }, 'cron: never matches: the given months do not have such a day'],
  [{ cron: '0 24 * * *' }, 'cron: hour: "24" is not one of 0 to 23'],
  [{ timeZone: 'Europe/Bielefeld' }, 'timeZone: must be an IANA time zone, such as Europe/Berlin or UTC'],
  [{ arguments: { days: 3 } }, 'arguments.days: is not a known field'],
  [{ kind: 'batch' as const }, 'arguments.operation: is not valid'],
  [{ kind: 'batch' as const, arguments: { operation: 'delete' } }, 'arguments.filter: is required'],
])('a schedule with %j is refused by its name', (fields, fault) => {
  expect(refusal({ schedules: [{ ...nightly, ...fields }] })).toBe(`ScheduleInvalid: spec.schedules, nightly: ${fault}`);
});

test('schedules of each kind are taken', () => {
  const given = { operation: 'delete', filter: { search: true, q: 'draft' } };
  expect(refusal({ schedules: [nightly, { ...nightly, name: 'drafts', kind: 'batch', arguments: given }] })).toBeUndefined();
});

test('nothing of a Tenant is ignored', () => {
  expect(fieldsIgnoredOfTenant(tenantWith({ schedules: [nightly] }).spec)).toMatchObject({ status: 'False', message: '' });
});

test('images of an allowed repository and annotations of an allowed prefix are taken', () => {
  expect(refusal({ image: 'mirror.example/carrel@sha256:abc' })).toBeUndefined();
  expect(
    refusal({ exposure: { type: 'Ingress', annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '0' } } }),
  ).toBeUndefined();
});

test('allowed labels, annotations, tolerations and priority classes are accepted; the operator’s own never are', () => {
  const pod = {
    labels: { team: 'x', 'cost.example/centre': '7' },
    annotations: { 'backup.example/on': '1' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' as const }],
    priorityClassName: 'tenants',
  };
  const all = settingsWith({ podLabels: ['*'], podAnnotations: ['*'], tolerations: ['*'] });

  expect(refusal({ pod })).toBeUndefined();
  expect(refusal({ pod: { tolerations: [{ operator: 'Exists' }] } }, all)).toBeUndefined();
  expect(refusal({ pod: { labels: { 'pod-template-hash': 'x' } } }, all)).toContain('does not accept pod-template-hash');
  expect(refusal({ pod: { annotations: { 'carrel.dev/config': 'x' } } }, all)).toContain('does not accept carrel.dev/config');
});

test('a Tenant may ask for as many connections as the operator allows, and for any number while it is suspended', () => {
  expect(refusal({ replicas: 8 }, settingsWith({ maxConnectionsPerTenant: 47 }))).toBeUndefined();
  expect(refusal({ replicas: 8 }, settingsWith({ maxConnectionsPerTenant: 46 }))).toContain('are 47 connections');
  expect(refusal({ replicas: 100, suspended: true })).toBeUndefined();
  expect(connectionsOf(tenantWith({ replicas: 100, suspended: true }))).toBe(0);
  expect(connectionsOf(tenantWith({}))).toBe(BASIC_CONNECTIONS);
});

test('without a base domain both hosts must be named', () => {
  const settings = settingsWith({ baseDomain: undefined });

  expect(refusal({}, settings)).toBe('HostMissing: set spec.hosts.app and spec.hosts.lti: this operator has no base domain');
  expect(refusal({ hosts: { app: 'a.example' } }, settings)).toBe(
    'HostMissing: set spec.hosts.lti: this operator has no base domain',
  );
  expect(refusal({ hosts: { app: 'a.example.org', lti: 'a.example.org' } }, settings)).toBeUndefined();
});

test.each([
  ['carrel', 'carrel'],
  ['carrel:dev', 'carrel'],
  ['host:5000/carrel', 'host:5000/carrel'],
  ['host:5000/team/carrel:1@sha256:ab', 'host:5000/team/carrel'],
])('the repository of %s is %s', (image, repository) => {
  expect(repositoryOf(image)).toBe(repository);
});
