import type { Pod } from '../../../kube/kinds.ts';
import type { ResourceApi } from '../../../kube/resource.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Random } from '../../../runtime/random.ts';
import { normalizedEndpoint } from '../../../store/postgres/storage-locations.ts';
import { BucketTaken, bucketName, type StorageAdmin } from '../../../store/s3/admin.ts';
import type { Connect } from '../../../store/s3/client.ts';
import type { ObjectsOptions } from '../../../store/s3/objects.ts';
import { TENANT, type ObservedTenant } from '../../kinds.ts';
import { NOT_ENDED, secretNames, selectorText } from '../../names.ts';
import type { SecretData, Secrets } from '../../secrets.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { Shards } from '../../shards.ts';
import { ConditionError, type StepResult } from '../../conditions/runner.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { isMove, requireFiles, requireNoPods } from './storage-migration.ts';
import { secretOwner } from '../secrets/secret-owner.ts';
import { recordStorage } from './record-storage.ts';
import { once } from '../../../runtime/once.ts';
import { AskedStore, markerText, takeStorage } from './storage-location.ts';

export interface StorageAccess {
  /** Checksum of the Secret that pods read. */
  readonly checksum: string;
}

/** The tenant's access to the object store: in its Secret and, sealed, in the registry, where the worker reads it. */
export interface StorageCredentials extends SecretData {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `true`: the tenant named the endpoint, and the guarded connector dials it. */
  readonly guarded: string;
  /** The text of the location's marker object. */
  readonly marker: string;
}

/** The key of a bucket that the operator made. */
export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** During a rotation, the id of the key that opens the bucket too. */
  readonly former?: string;
}

const SECRET_KEY_BYTES = 30;
const KEY_ID_BYTES = 6;

/** Returns another key of the bucket that `accessKeyId` opens. */
export const newStorageKey = (accessKeyId: string, random: Random): BucketKeys => ({
  accessKeyId: `${accessKeyId.split('.')[0]}.${random.hex(KEY_ID_BYTES)}`,
  secretAccessKey: random.base64url(SECRET_KEY_BYTES),
});

/**
 * The step `StorageReady`: a bucket and a key of the tenant's own, or those that it named, and their Secret. No call when nothing
 * changed.
 */
export class StorageStep {
  readonly #settings: OperatorSettings;
  readonly #shards: Shards;
  readonly #secrets: Secrets;
  readonly #admin: StorageAdmin | undefined;
  readonly #connect: Connect;
  readonly #pods: ResourceApi<Pod>;
  readonly #random: Random;
  /** Runs before this leader takes its first location. */
  readonly #recorded: () => Promise<void>;

  constructor(deps: {
    settings: OperatorSettings;
    shards: Shards;
    secrets: Secrets;
    /** Undefined: the platform does not create buckets. */
    admin: StorageAdmin | undefined;
    /** Connects to endpoints that tenants named. */
    connect: Connect;
    pods: ResourceApi<Pod>;
    random: Random;
    log: Logger;
  }) {
    this.#settings = deps.settings;
    this.#shards = deps.shards;
    this.#secrets = deps.secrets;
    this.#admin = deps.admin;
    this.#connect = deps.connect;
    this.#pods = deps.pods;
    this.#random = deps.random;
    const { shards, connect, log } = deps;
    const options = (sealed: string): ObjectsOptions => openable(JSON.parse(sealed) as StorageCredentials, connect);
    this.#recorded = once(async () => recordStorage({ registry: await shards.registry(), options, log }));
  }

  async run(tenant: ObservedTenant, accepted: AcceptedTenant, signal: AbortSignal): Promise<StepResult<StorageAccess>> {
    const name = secretNames(tenant).storage;
    const present = this.#secrets.intact(secretOwner(tenant), name);
    const registry = await this.#shards.registry();
    const marker = markerText(accepted.tenantId, await registry.installation());
    const named = tenant.spec.storage.credentialsSecretRef;
    const wanted = named
      ? await this.#namedStorage(tenant, named.name, marker)
      : await this.#ownStorage(accepted, present, marker);
    // The Secret is written last: where it exists, everything before it was done.
    if (!same(present, wanted)) await this.#take(tenant, accepted, wanted, { isOwn: !named, signal });
    const checksum = await this.#secrets.write(secretOwner(tenant), name, wanted);
    return { value: { checksum }, reason: 'StorageReady', message: `bucket ${wanted.bucket}` };
  }

  async #take(
    tenant: ObservedTenant,
    accepted: AcceptedTenant,
    wanted: StorageCredentials,
    { isOwn, signal }: { isOwn: boolean; signal: AbortSignal },
  ): Promise<void> {
    const { tenantId } = accepted;
    const registry = await this.#shards.registry();
    if (isOwn) await this.#makeBucket(wanted, accepted);
    const store = new AskedStore(openable(wanted, this.#connect), { isOwn, signal });
    try {
      if (!isOwn) await store.reach();
      await this.#recorded();
      const sealed = await registry.getSecret(tenantId, 'storage');
      const before = sealed === null ? undefined : (JSON.parse(sealed) as StorageCredentials);
      await this.#requireMovable(tenant, accepted, before, store);
      await takeStorage({ registry, tenantId, isOwn, before, store, marker: wanted.marker, sealed: JSON.stringify(wanted) });
    } finally {
      store.close();
    }
  }

  async #requireMovable(
    tenant: ObservedTenant,
    accepted: AcceptedTenant,
    before: StorageCredentials | undefined,
    store: AskedStore,
  ): Promise<void> {
    const wanted = store.location;
    if (isMove(before, wanted)) {
      const { namespace } = tenant.metadata;
      const pods = await this.#pods.list({ namespace, labelSelector: selectorText(tenant), fieldSelector: NOT_ENDED });
      requireNoPods(pods.length, before, wanted);
    }
    await requireFiles((await this.#shards.open(accepted.shard)).pool, accepted.slug, before, store);
  }

  async #ownStorage(
    { tenantId, slug, credentials }: AcceptedTenant,
    present: SecretData | undefined,
    marker: string,
  ): Promise<StorageCredentials> {
    const { s3Endpoint, s3Region } = this.#settings;
    const bucket = bucketName(slug);
    const location = { endpoint: s3Endpoint, region: s3Region, bucket, prefix: '', guarded: 'false', marker };
    const { accessKeyId, secretAccessKey } = present ?? {};
    if (
      !credentials.storage?.step &&
      accessKeyId &&
      secretAccessKey &&
      same(present, { ...location, accessKeyId, secretAccessKey })
    )
      return { ...location, accessKeyId, secretAccessKey };
    const keys = await this.#bucketKeys(tenantId, bucket);
    return { ...location, accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey };
  }

  async #bucketKeys(tenantId: string, bucket: string): Promise<BucketKeys> {
    const registry = await this.#shards.registry();
    const first = () => JSON.stringify({ accessKeyId: bucket, secretAccessKey: this.#random.base64url(SECRET_KEY_BYTES) });
    return JSON.parse(await registry.ensureSecret(tenantId, 'bucket', first)) as BucketKeys;
  }

  /** Ends the former key as the last step of a rotation: only the new key opens the bucket. Safe to repeat. */
  async endFormerKey({ tenantId, slug }: AcceptedTenant): Promise<void> {
    const bucket = bucketName(slug);
    const { accessKeyId, former } = await this.#bucketKeys(tenantId, bucket);
    if (former !== undefined) await this.#admin?.endFormerKey({ bucket, accessKeyId, former });
  }

  async #namedStorage(tenant: ObservedTenant, name: string, marker: string): Promise<StorageCredentials> {
    const reference = { by: tenant, kind: TENANT, field: 'spec.storage.credentialsSecretRef', name };
    const named = await this.#secrets.named(reference, ['accessKeyId', 'secretAccessKey']);
    const endpoint = named['endpoint'] ?? this.#settings.s3Endpoint;
    if (!isEndpoint(endpoint))
      throw new ConditionError(
        'EndpointInvalid',
        `spec.storage: the endpoint in Secret ${name} is not an address such as https://s3.example.org`,
        {
          isTerminal: true,
        },
      );
    requireSendable(named, name);
    const { bucket = '', prefix = '' } = tenant.spec.storage;
    // A store on a file system would read `./a/` as `a/`, which may be another tenant's.
    if (prefix.split('/').some((segment) => segment === '.' || segment === '..'))
      throw new ConditionError('PrefixInvalid', 'spec.storage.prefix: no segment may be "." or ".."', { isTerminal: true });
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

  async #makeBucket(
    { bucket, accessKeyId, secretAccessKey }: StorageCredentials,
    { tenantId, credentials }: AcceptedTenant,
  ): Promise<void> {
    if (!this.#admin)
      throw new ConditionError(
        'StorageNotNamed',
        'this platform does not create buckets (CARREL_S3_ADMIN_ENDPOINT): name a bucket and the Secret of its key in ' +
          'spec.storage',
        { isTerminal: true },
      );
    try {
      const { former } = credentials.storage?.step ? await this.#bucketKeys(tenantId, bucket) : {};
      const key = { bucket, accessKeyId, secretAccessKey };
      if (former === undefined) await this.#admin.ensureBucketWithUser(key);
      else await this.#admin.addKey({ ...key, former });
    } catch (error) {
      if (error instanceof BucketTaken)
        throw new ConditionError('BucketTaken', `bucket ${bucket} has another owner`, {
          isTerminal: true,
          retryAfterMs: 60_000,
          cause: error,
        });
      throw error;
    }
  }
}

/** Returns the options of a client for a tenant's storage. */
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

/** The allowed values of a Secret that a request can carry. */
const SENDABLE = [
  ['accessKeyId', /^[!-~]+$/, 'letters, digits and signs of ASCII alone, and no space or second line end'],
  ['secretAccessKey', /^\P{Cc}+$/u, 'no control characters, such as a second line end'],
  ['region', /^(?:\*|(?!-)[A-Za-z0-9-]{1,63}(?<!-))$/, 'letters, digits and hyphens alone, since it is a part of a host'],
] as const;

/** Requires values that a request can carry: the client would fail with only the name of an error. Throws ConditionError. */
function requireSendable(named: SecretData, secret: string): void {
  for (const [key, pattern, what] of SENDABLE) {
    const value = named[key];
    if (value !== undefined && !pattern.test(value))
      throw new ConditionError('SecretInvalid', `spec.storage: ${key} in Secret ${secret} may hold ${what}`, {
        isTerminal: true,
      });
  }
}

const same = (a: SecretData | undefined, b: SecretData): boolean =>
  a !== undefined &&
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(b).every(([key, value]) => a[key] === value);
