import type { Pod } from '../../kube/kinds.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { normalizedEndpoint } from '../../store/postgres/storage-locations.ts';
import { redisUser } from '../../store/redis/acl.ts';
import { BucketTaken, bucketName, type StorageAdmin } from '../../store/s3/admin.ts';
import type { Connect } from '../../store/s3/client.ts';
import type { ObjectsOptions } from '../../store/s3/objects.ts';
import type { ObservedTenant } from '../kinds.ts';
import { secretNames, selectorText } from '../names.ts';
import type { SecretData, Secrets } from '../secrets.ts';
import type { OperatorSettings } from '../settings.ts';
import type { Shards } from '../shards.ts';
import { NotYet, type Outcome } from '../steps.ts';
import type { Claim } from './claims.ts';
import { isMove, requireFiles, requireNoPods } from './moved-storage.ts';
import { secretOwner } from './owner.ts';
import { once, recordStorage } from './recorded-storage.ts';
import { markerText, reach, takeStorage } from './storage-location.ts';
import type { TenantRedis } from './redis.ts';

export interface StorageAccess {
  /** Checksums of the Secrets that pods read. */
  readonly checksums: readonly string[];
}

/** The tenant's access to the object store, as it stands in its Secret and, sealed, in the registry, where the worker finds it. */
export interface StorageCredentials extends SecretData {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `true`: the endpoint is one that the tenant named, and dialled by the guarded connector. */
  readonly guarded: string;
  /** What the marker object of the location says. */
  readonly marker: string;
}

const PASSWORD_BYTES = 24;
const SECRET_KEY_BYTES = 30;

/** The step `StorageReady`: a bucket and a key of the tenant's own, or those it named, and its Redis user. No call when nothing changed. */
export class Storages {
  readonly #settings: OperatorSettings;
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #admin: StorageAdmin | undefined;
  readonly #connect: Connect;
  readonly #redis: TenantRedis;
  readonly #pods: ResourceApi<Pod>;
  readonly #random: Random;
  /** Before the first location is taken by this leader. */
  readonly #recorded: () => Promise<void>;

  constructor(deps: {
    settings: OperatorSettings;
    shards: Shards;
    secrets: Secrets;
    /** Undefined: the platform makes no buckets. */
    admin: StorageAdmin | undefined;
    /** For endpoints that tenants named. */
    connect: Connect;
    redis: TenantRedis;
    pods: ResourceApi<Pod>;
    random: Random;
    log: Logger;
  }) {
    this.#settings = deps.settings;
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#admin = deps.admin;
    this.#connect = deps.connect;
    this.#redis = deps.redis;
    this.#pods = deps.pods;
    this.#random = deps.random;
    const { shards, connect, log } = deps;
    const options = (sealed: string): ObjectsOptions => openable(JSON.parse(sealed) as StorageCredentials, connect);
    this.#recorded = once(async () => recordStorage({ registry: await shards.registry(), options, log }));
  }

  async ensure(tenant: ObservedTenant, claim: Claim): Promise<Outcome<StorageAccess>> {
    const [objects, redis] = await Promise.allSettled([this.#ensureObjects(tenant, claim), this.#ensureRedis(tenant, claim)]);
    if (objects.status === 'rejected') throw objects.reason;
    if (redis.status === 'rejected') throw redis.reason;
    const { bucket, checksum } = objects.value;
    return {
      value: { checksums: [checksum, redis.value] },
      reason: 'StorageReady',
      message: `bucket ${bucket}, Redis user ${redisUser(claim.slug)}`,
    };
  }

  async #ensureObjects(tenant: ObservedTenant, claim: Claim): Promise<{ bucket: string; checksum: string }> {
    const name = secretNames(tenant).storage;
    const present = this.#secrets.intact(secretOwner(tenant), name);
    const registry = await this.#shards.registry();
    const marker = markerText(claim.tenantId, await registry.installation());
    const named = tenant.spec.storage.credentialsSecretRef;
    const wanted = named ? await this.#namedStorage(tenant, named.name, marker) : await this.#ownStorage(claim, present, marker);
    if (!same(present, wanted)) {
      // The Secret comes last: where it stands, all this was done.
      const options = openable(wanted, this.#connect);
      if (named) await reach(options);
      else await this.#makeBucket(wanted);
      await this.#recorded();
      const sealed = await registry.getSecret(claim.tenantId, 'storage');
      const before = sealed === null ? undefined : (JSON.parse(sealed) as StorageCredentials);
      await this.#requireMovable(tenant, claim, before, options);
      const { tenantId } = claim;
      await takeStorage({ registry, tenantId, isOwn: !named, before, wanted: { ...options, marker }, sealed: JSON.stringify(wanted) });
    }
    return { bucket: wanted.bucket, checksum: await this.#secrets.write(secretOwner(tenant), name, wanted) };
  }

  async #requireMovable(
    tenant: ObservedTenant,
    claim: Claim,
    before: StorageCredentials | undefined,
    wanted: ObjectsOptions,
  ): Promise<void> {
    if (isMove(before, wanted)) {
      const pods = await this.#pods.list({ namespace: tenant.metadata.namespace, labelSelector: selectorText(tenant) });
      requireNoPods(pods.length, before, wanted);
    }
    await requireFiles((await this.#shards.open(claim.shard)).pool, claim.slug, before, wanted);
  }

  async #ownStorage({ tenantId, slug }: Claim, present: SecretData | undefined, marker: string): Promise<StorageCredentials> {
    const { s3Endpoint, s3Region } = this.#settings;
    const bucket = bucketName(slug);
    const place = { endpoint: s3Endpoint, region: s3Region, bucket, prefix: '', guarded: 'false', marker };
    const { accessKeyId, secretAccessKey } = present ?? {};
    if (accessKeyId && secretAccessKey && same(present, { ...place, accessKeyId, secretAccessKey }))
      return { ...place, accessKeyId, secretAccessKey };
    const registry = await this.#shards.registry();
    const sealed = await registry.ensureSecret(tenantId, 'bucket', () =>
      JSON.stringify({ accessKeyId: bucket, secretAccessKey: this.#random.base64url(SECRET_KEY_BYTES) }),
    );
    return { ...place, ...(JSON.parse(sealed) as { accessKeyId: string; secretAccessKey: string }) };
  }

  async #namedStorage(tenant: ObservedTenant, name: string, marker: string): Promise<StorageCredentials> {
    const key = { namespace: tenant.metadata.namespace, name };
    const named = await this.#secrets.named('spec.storage.credentialsSecretRef', key, ['accessKeyId', 'secretAccessKey']);
    const endpoint = named['endpoint'] ?? this.#settings.s3Endpoint;
    if (!isEndpoint(endpoint))
      throw new NotYet('EndpointInvalid', `spec.storage: the endpoint in Secret ${name} is no address such as https://s3.example.org`, {
        isStuck: true,
      });
    const { bucket = '', prefix = '' } = tenant.spec.storage;
    // A store that keeps files would take `./a/` for `a/`, which may be another tenant's.
    if (prefix.split('/').some((segment) => segment === '.' || segment === '..'))
      throw new NotYet('PrefixInvalid', 'spec.storage.prefix: no segment may be "." or ".."', { isStuck: true });
    return {
      endpoint,
      region: named['region'] ?? this.#settings.s3Region,
      bucket,
      prefix,
      accessKeyId: named['accessKeyId'] ?? '',
      secretAccessKey: named['secretAccessKey'] ?? '',
      guarded: String(normalizedEndpoint(endpoint) !== normalizedEndpoint(this.#settings.s3Endpoint)),
      marker,
    };
  }

  async #makeBucket({ bucket, accessKeyId, secretAccessKey }: StorageCredentials): Promise<void> {
    if (!this.#admin)
      throw new NotYet(
        'StorageNotNamed',
        'this platform makes no buckets (CARREL_S3_ADMIN_ENDPOINT): name a bucket and the Secret of its key in spec.storage',
        { isStuck: true },
      );
    try {
      await this.#admin.ensureBucketWithUser({ bucket, accessKeyId, secretAccessKey });
    } catch (error) {
      if (error instanceof BucketTaken)
        throw new NotYet('BucketTaken', `bucket ${bucket} belongs to somebody else`, { isStuck: true, retryAfterMs: 60_000, cause: error });
      throw error;
    }
  }

  async #ensureRedis(tenant: ObservedTenant, { tenantId, slug }: Claim): Promise<string> {
    const name = secretNames(tenant).redis;
    const password = passwordIn(this.#secrets.intact(secretOwner(tenant), name)) ?? (await this.#redisPassword(tenantId));
    await this.#redis.ensure(slug, password);
    const { redisAddress, redisTls } = this.#settings;
    const url = `${redisTls ? 'rediss' : 'redis'}://${encodeURIComponent(redisUser(slug))}:${encodeURIComponent(password)}@${redisAddress}`;
    return this.#secrets.write(secretOwner(tenant), name, { url });
  }

  async #redisPassword(tenantId: string): Promise<string> {
    const registry = await this.#shards.registry();
    const sealed = await registry.ensureSecret(tenantId, 'redis', () =>
      JSON.stringify({ password: this.#random.base64url(PASSWORD_BYTES) }),
    );
    return (JSON.parse(sealed) as { password: string }).password;
  }
}

/** A tenant's storage as a client of it is made. */
export const openable = (storage: StorageCredentials, connect: Connect): ObjectsOptions => ({
  ...storage,
  ...(storage.guarded === 'false' ? {} : { connect }),
});

const MAX_ENDPOINT_LENGTH = 300;

function isEndpoint(text: string): boolean {
  if (text.length > MAX_ENDPOINT_LENGTH || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

const same = (a: SecretData | undefined, b: SecretData): boolean =>
  a !== undefined && Object.keys(a).length === Object.keys(b).length && Object.entries(b).every(([key, value]) => a[key] === value);

function passwordIn(data: SecretData | undefined): string | undefined {
  const url = data?.['url'];
  return url !== undefined && URL.canParse(url) ? decodeURIComponent(new URL(url).password) || undefined : undefined;
}
