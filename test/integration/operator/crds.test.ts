import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isInvalid, KubeError } from '../../../pkg/kube/errors.ts';
import type { KubeObject } from '../../../pkg/kube/object.ts';
import { LTI_REGISTRATION, TENANT, WEBHOOK } from '../../../pkg/operator/kinds.ts';
import { documentsOf } from '../../support/cluster/access.ts';
import {
  children,
  type Cluster,
  newNamespace,
  registrationOf,
  sharedCluster,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';

/** Nobody acts on what is accepted here. */
let cluster: Cluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster('idle');
  namespace = await newNamespace(cluster);
}, 60_000);
afterAll(() => cluster?.close());

/** The message that kubectl shows for a refused resource. */
async function refusal(write: Promise<unknown>): Promise<string> {
  const error = await write.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isInvalid(error)) throw new Error(`was not refused as invalid: ${String(error)}`);
  return (error as KubeError).message;
}

const LONG = 'a'.repeat(53);
const gateway = { type: 'Gateway', gateway: { name: 'edge' } };

describe('a Tenant is refused with a message that says what to do', () => {
  test.each<[string, string, object, string]>([
    ['a name with a dot', 'my.tenant', {}, 'the name must be a DNS-1035 label of at most 52 characters'],
    ['a name of 53 characters', LONG, { slug: 'short' }, 'the name must be a DNS-1035 label of at most 52 characters'],
    ['a name that begins with a digit', '1st', { slug: 'first' }, 'the name must be a DNS-1035 label'],
    [
      'a long name without slug',
      'a'.repeat(41),
      {},
      'the name does not fit as a slug (2 to 40 characters); set spec.slug to one that does',
    ],
    ['a name of one letter without slug', 'a', {}, 'set spec.slug to one that does'],
    ['a slug with capitals', 'ok', { slug: 'NotOk' }, 'spec.slug in body should match'],
    ['a slug that ends in a dash', 'ok', { slug: 'no-' }, 'spec.slug in body should match'],
    ['replicas beside autoscaling', 'ok', { replicas: 2, autoscaling: { max: 3 } }, 'set replicas or autoscaling, not both'],
    ['min above max', 'ok', { autoscaling: { min: 4, max: 3 } }, 'min must not be above max'],
    [
      'autoscaling by a CPU that is not requested',
      'ok',
      { autoscaling: { max: 3 }, resources: { requests: { memory: '128Mi' } } },
      'spec.resources: Invalid value: autoscaling counts the CPU that the pods use of what they request; set ' +
        'resources.requests.cpu',
    ],
    [
      'a pod label with a space',
      'ok',
      { pod: { labels: { 'my team': 'x' } } },
      'spec.pod.labels: Invalid value: each key must be a name',
    ],
    [
      'a toleration of everything by mistake',
      'ok',
      { pod: { tolerations: [{ effect: 'NoSchedule' }] } },
      'a toleration without key needs operator Exists',
    ],
    ['more than 100 replicas', 'ok', { replicas: 101 }, 'should be less than or equal to 100'],
    [
      'a Gateway exposure without gateway',
      'ok',
      { exposure: { type: 'Gateway' } },
      'gateway is for type Gateway, and type Gateway needs it',
    ],
    [
      'a ClusterIssuer without an Ingress',
      'ok',
      { exposure: { type: 'None', tls: { secretName: 's', clusterIssuer: 'c' } } },
      'tls.clusterIssuer is for type Ingress',
    ],
    [
      'a gateway for another exposure',
      'ok',
      { exposure: { ...gateway, type: 'Ingress' } },
      'gateway is for type Gateway, and type Gateway needs it',
    ],
    [
      'annotations without an Ingress',
      'ok',
      { exposure: { type: 'None', annotations: { a: 'b' } } },
      'ingressClassName and annotations are for type Ingress',
    ],
    [
      'a class without an Ingress',
      'ok',
      { exposure: { ...gateway, ingressClassName: 'nginx' } },
      'ingressClassName and annotations are for type Ingress',
    ],
    ['an exposure that does not exist', 'ok', { exposure: { type: 'NodePort' } }, 'Unsupported value: "NodePort"'],
    ['tls without a Secret', 'ok', { exposure: { tls: {} } }, 'spec.exposure.tls.secretName: Required value'],
    ['a host with a scheme', 'ok', { hosts: { app: 'https://files.example.com' } }, 'spec.hosts.app in body should match'],
    ['a host with capitals', 'ok', { hosts: { lti: 'LTI.example.com' } }, 'spec.hosts.lti in body should match'],
    ['a bucket without credentials', 'ok', { storage: { bucket: 'theirs' } }, 'bucket and prefix need credentialsSecretRef'],
    ['a prefix without credentials', 'ok', { storage: { prefix: 'theirs/' } }, 'bucket and prefix need credentialsSecretRef'],
    [
      'credentials without a bucket',
      'ok',
      { storage: { credentialsSecretRef: { name: 's3' } } },
      'credentialsSecretRef needs bucket',
    ],
    ['a quota in words', 'ok', { storage: { defaultUserQuota: 'ten' } }, 'spec.storage.defaultUserQuota in body should match'],
    [
      'a quota in thousandths',
      'ok',
      { storage: { defaultUserQuota: '100m' } },
      'm is a thousandth of a byte; write M for megabytes, or Mi for mebibytes',
    ],
    ['an upload in thousandths', 'ok', { storage: { maxUploadSize: '1500m' } }, 'm is a thousandth of a byte'],
    ['a limit of a tenant in thousandths', 'ok', { limits: { storage: '500m' } }, 'm is a thousandth of a byte'],
    ['a quota that no JSON number carries', 'ok', { storage: { defaultUserQuota: '9E' } }, 'must be less than 8Pi (2^53 bytes)'],
    ['an upload of just too much', 'ok', { storage: { maxUploadSize: '8Pi' } }, 'must be less than 8Pi (2^53 bytes)'],
    [
      'a quota of too many bytes as a number',
      'ok',
      { storage: { defaultUserQuota: 9e18 } },
      'must be less than 8Pi (2^53 bytes)',
    ],
    ['a pool of none', 'ok', { database: { poolSize: 0 } }, 'should be greater than or equal to 1'],
    [
      'a helper with a query',
      'ok',
      { helpers: { translateUrl: 'http://h/?key=1' } },
      'must be an http or https address without user, query or fragment',
    ],
    ['a helper that is no address', 'ok', { helpers: { pdfOptimizeUrl: 'ftp://h/' } }, 'must be an http or https address'],
    ['a limit of none', 'ok', { limits: { requestsPerUserPerMinute: 0 } }, 'should be greater than or equal to 1'],
    ['a retention in weeks', 'ok', { trashRetention: '4w' }, 'spec.trashRetention in body should match'],
    ['no version at all', 'ok', { versions: { keep: 0 } }, 'spec.versions.keep in body should be greater than or equal to 1'],
    ['no day of a share link', 'ok', { shareLinks: { maxDays: 0 } }, 'should be greater than or equal to 1'],
    ['a schedule without cron', 'ok', { schedules: [{ name: 'a', kind: 'empty_trash' }] }, 'cron: Required value'],
    [
      'a schedule of an unknown kind',
      'ok',
      { schedules: [{ name: 'a', kind: 'trash', cron: '0 0 * * *' }] },
      'Unsupported value: "trash"',
    ],
    [
      'two schedules of one name',
      'ok',
      { schedules: ['0 0 * * *', '1 0 * * *'].map((cron) => ({ name: 'a', kind: 'empty_trash', cron })) },
      'Duplicate value',
    ],
    ['an e-mail without @', 'ok', { admin: { email: 'me' } }, 'spec.admin.email in body should'],
    ['a deletion policy of its own', 'ok', { deletionPolicy: 'Keep' }, 'Unsupported value: "Keep"'],
  ])('%s', async (_what, name, spec, message) => {
    expect(await refusal(cluster.tenants.create(tenantOf(namespace, name, spec)))).toContain(message);
  });
});

describe('what must not change is refused later too', () => {
  test.each<[string, object, object, string]>([
    ['the slug', { slug: 'first-one' }, { slug: 'another' }, 'slug is immutable, also from unset to set'],
    ['a slug that was unset', {}, { slug: 'another' }, 'slug is immutable, also from unset to set'],
    ['a slug that was set', { slug: 'first-one' }, { slug: null }, 'slug is immutable, also from unset to set'],
  ])('%s', async (_what, spec, change, message) => {
    const name = unique();
    await cluster.tenants.create(tenantOf(namespace, name, spec));

    expect(await refusal(cluster.tenants.patch({ namespace, name }, { spec: change }))).toContain(message);
  });

  test.each(['webhooks', 'registrations'] as const)('the tenant of %s', async (kind) => {
    const name = unique();
    const spec = kind === 'webhooks' ? webhook : registration;
    await cluster[kind].create({ metadata: { name, namespace }, spec } as never);

    expect(await refusal(cluster[kind].patch({ namespace, name }, { spec: { tenantRef: { name: 'other' } } }))).toContain(
      'tenantRef is immutable',
    );
  });
});

const webhook = { tenantRef: { name: 'general' }, url: 'https://example.com/hook', events: ['file.created'] };

describe('a Webhook is refused with a message that says what to do', () => {
  test.each<[string, object, string]>([
    ['no events', { events: [] }, 'should have at least 1 items'],
    ['an event that does not exist', { events: ['file.read'] }, 'Unsupported value: "file.read"'],
    ['an event twice', { events: ['file.created', 'file.created'] }, 'Duplicate value'],
    [
      'plain http',
      { url: 'http://example.com/' },
      'must be an https address without user and password, or such an http one on loopback or *.localhost',
    ],
    ['a user in the address', { url: 'https://me:pw@example.com/' }, 'must be an https address'],
    ['no address at all', { url: 'example.com' }, 'must be an https address'],
    [
      'a header of the delivery itself',
      { headers: { 'Content-Type': 'text/plain' } },
      'this header is set by the delivery itself',
    ],
    ['a header of Standard Webhooks', { headers: { 'webhook-id': '1' } }, 'this header is set by the delivery itself'],
    ['a header with a space', { headers: { 'X Y': '1' } }, 'header names are letters, digits and -'],
    ['a header with a line break', { headers: { 'X-Y': 'a\r\nb' } }, 'should match'],
    ['a secret without key', { secretRef: { name: 's' } }, 'spec.secretRef.key: Required value'],
  ])('%s', async (_what, change, message) => {
    expect(await refusal(cluster.webhooks.create(webhookOf(namespace, unique(), { ...webhook, ...change })))).toContain(message);
  });

  test.each(['http://localhost:8080/x', 'http://receiver.localhost:8080/x', 'http://127.0.0.1:1/', 'http://[::1]:1/'])(
    'not %s',
    async (url) => {
      await cluster.webhooks.create(webhookOf(namespace, unique(), { ...webhook, url }));
    },
  );
});

const endpoints = {
  authEndpoint: 'https://lms.example/a',
  tokenEndpoint: 'https://lms.example/t',
  jwksEndpoint: 'https://lms.example/k',
};
const registration = {
  tenantRef: { name: 'general' },
  clientId: 'abc',
  platform: { issuer: 'https://lms.example', ...endpoints },
};

describe('an LtiRegistration is refused with a message that says what to do', () => {
  test.each<[string, object, string]>([
    [
      'no endpoints for the generic preset',
      { platform: { issuer: 'https://lms.example' } },
      'this preset needs authEndpoint, tokenEndpoint and jwksEndpoint',
    ],
    [
      'no key set for Sakai',
      { platform: { ...registration.platform, preset: 'sakai', jwksEndpoint: null } },
      'this preset needs authEndpoint',
    ],
    ['a preset that does not exist', { platform: { ...registration.platform, preset: 'ilias' } }, 'Unsupported value: "ilias"'],
    ['an issuer over http', { platform: { ...registration.platform, issuer: 'http://lms.example' } }, 'must be an https address'],
    ['no client id', { clientId: '' }, 'should be at least 1 chars long'],
    ['a deployment twice', { deploymentIds: ['1', '1'] }, 'Duplicate value'],
    [
      'an origin with a path',
      { platform: { ...registration.platform, frameAncestors: ['https://a.example/x'] } },
      'should match',
    ],
    ['a way to respond that does not exist', { deepLinkingResponseMode: 'Post' }, 'Unsupported value: "Post"'],
    ['a tool address with a query', { toolUrl: 'https://tool.example/?a=b' }, 'toolUrl must have no query'],
    ['a rotation in months', { keyRotationPeriod: '3M' }, 'should match'],
    [
      'a rotation of a key of one’s own',
      { keyRotationPeriod: '30d', keySecretRef: { name: 'k', key: 'pem' } },
      'keyRotationPeriod is for generated keys',
    ],
  ])('%s', async (_what, change, message) => {
    expect(
      await refusal(cluster.registrations.create(registrationOf(namespace, unique(), { ...registration, ...change }))),
    ).toContain(message);
  });

  test('not one by the preset of Moodle, which knows its endpoints', async () => {
    const platform = { preset: 'moodle', issuer: 'https://moodle.example' };
    await cluster.registrations.create(registrationOf(namespace, unique(), { ...registration, platform }));
  });
});

test('a resource of one line gets its defaults', async () => {
  const { spec } = await cluster.tenants.create({ metadata: { namespace, name: unique() } } as never);

  expect(spec).toEqual({
    exposure: { type: 'Ingress' },
    database: { poolSize: 5 },
    storage: { defaultUserQuota: '10Gi' },
    limits: { requestsPerUserPerMinute: 100, requestsPerTenantPerMinute: 1000, requestsPerIpPerHour: 10000, database: '50Gi' },
    trashRetention: '30d',
    versions: { keep: 50 },
    suspended: false,
    deletionPolicy: 'Retain',
  });
});

test('the samples are accepted', async () => {
  const kinds = Object.fromEntries([children.NAMESPACE, TENANT, LTI_REGISTRATION, WEBHOOK].map((kind) => [kind.kind, kind]));
  for (const object of documentsOf('config/samples'))
    await cluster.of<KubeObject>(kinds[object.kind ?? ''] as never).create(object);
});
