import {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { statusOf, translateError } from './errors.ts';
import { newClient } from './objects.ts';
import { sign } from './signature.ts';

export interface StorageAdminOptions {
  readonly endpoint: string;
  readonly adminEndpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly clock?: Clock;
  readonly timeoutMs?: number;
}

/** A bucket with the one key that opens it. */
export interface TenantBucket {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The bucket exists and belongs to another user. */
export class BucketTaken extends Error {
  override readonly name = 'BucketTaken';
  readonly bucket: string;

  constructor(bucket: string) {
    super(`the bucket ${bucket} already exists and belongs to another user of the store`);
    this.bucket = bucket;
  }
}

/** The store refused a call to the admin interface. `code` is the store's (`XAdminUserExists` …). */
class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(`the store's admin interface answered ${status} ${code}: ${message}`);
    this.code = code;
  }
}

export const bucketName = (slug: string): string => `carrel-${slug}`;

/**
 * Returns true for a key of a tenant's own bucket: the first one is named like the bucket, one after a rotation
 * `<bucket>.<random>`. No slug has a dot.
 */
export const isBucketKey = (accessKeyId: string, bucket: string): boolean =>
  accessKeyId === bucket || accessKeyId.startsWith(`${bucket}.`);

const TIMEOUT_MS = 5_000;

/**
 * Buckets and keys of tenants on versitygw, by its admin interface (PATCH with XML, Signature Version 4).
 *
 * Invariants:
 * - A key opens only its own bucket; a bucket that belongs to another user is never taken over.
 * - Policies and access lists of a bucket are reset, so that only its key opens it.
 * - A bucket that opens with its key costs three requests and no write.
 * - Each step may be repeated: after a crash, the next call continues.
 */
export class StorageAdmin {
  readonly #options: StorageAdminOptions;
  readonly #clock: Clock;
  readonly #client: S3Client;

  constructor(options: StorageAdminOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#client = newClient(options);
  }

  /** Creates or corrects user, key and bucket. Throws BucketTaken, StoreUnavailableError. */
  async ensureBucketWithUser(wanted: TenantBucket): Promise<{ changed: boolean }> {
    const isOpen = await this.#opens(wanted);
    if (!isOpen) {
      await this.#ensureUser(wanted);
      await this.#ensureBucket(wanted);
    }
    await this.#closeToOthers(wanted);
    return { changed: !isOpen };
  }

  /** Lets another key open the bucket in addition to `former`, which still owns it. Throws BucketTaken, StoreUnavailableError. */
  async addKey(wanted: TenantBucket & { readonly former: string }): Promise<void> {
    const { bucket, accessKeyId, former } = wanted;
    if (await this.#opens(wanted)) return;
    await this.#ensureUser(wanted);
    const owner = await this.#ownerOf(bucket);
    if (owner === accessKeyId) return;
    if (owner !== former) throw new BucketTaken(bucket);
    const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
    // versitygw checks the policy for the owner too.
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { AWS: [former, accessKeyId] }, Action: ['s3:*'], Resource }],
    });
    try {
      await this.#client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Gives the bucket to `accessKeyId` alone, and removes the user `former`. Throws StoreUnavailableError. */
  async endFormerKey({
    bucket,
    accessKeyId,
    former,
  }: Pick<TenantBucket, 'bucket' | 'accessKeyId'> & { readonly former: string }): Promise<void> {
    await this.#order('/change-bucket-owner', { query: { bucket, owner: accessKeyId } });
    await this.#closeToOthers({ bucket, accessKeyId, secretAccessKey: '' });
    await this.#deleteUser(former);
  }

  /**
   * Removes the users, all objects, unfinished uploads and the bucket. Returns true when done, false when out of time; then call
   * it again. A bucket that belongs to another user is left alone. Throws StoreUnavailableError.
   * The bucket is removed last: after a crash, only its owner may tell which user has the key of a rotation.
   */
  async removeBucketWithUser(
    gone: Pick<TenantBucket, 'bucket' | 'accessKeyId'> & { readonly former?: string },
    options: { budgetMs?: number } = {},
  ): Promise<boolean> {
    const deadline = this.#clock.monotonic() + (options.budgetMs ?? 20_000);
    const owner = await this.#ownerOf(gone.bucket);
    const isOurs = owner !== undefined && (owner === gone.accessKeyId || isBucketKey(owner, gone.bucket));
    for (const access of new Set([gone.accessKeyId, gone.former, isOurs ? owner : undefined]))
      if (access) await this.#deleteUser(access);
    return !isOurs || this.#removeBucket(gone.bucket, deadline);
  }

  close(): void {
    this.#client.destroy();
  }

  async #opens({ bucket, accessKeyId, secretAccessKey }: TenantBucket): Promise<boolean> {
    const client = newClient({ ...this.#options, accessKeyId, secretAccessKey });
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }));
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (status === 403 || status === 404) return false;
      throw translateError(error);
    } finally {
      client.destroy();
    }
  }

  async #ensureUser({ accessKeyId, secretAccessKey }: TenantBucket): Promise<void> {
    const access = `<Access>${xml(accessKeyId)}</Access>`;
    const account = `<Account>${access}<Secret>${xml(secretAccessKey)}</Secret><Role>user</Role></Account>`;
    const made = await this.#order('/create-user', { body: account, ignore: ['XAdminUserExists'] });
    if (made !== null) return;
    const secret = `<MutableProps><Secret>${xml(secretAccessKey)}</Secret></MutableProps>`;
    await this.#order('/update-user', { query: { access: accessKeyId }, body: secret });
  }

  async #ensureBucket({ bucket, accessKeyId }: TenantBucket): Promise<void> {
    const made = await this.#order(`/${bucket}/create`, {
      headers: { 'x-vgw-owner': accessKeyId },
      ignore: ['BucketAlreadyExists', 'BucketAlreadyOwnedByYou'],
    });
    if (made !== null) return;
    const owner = await this.#ownerOf(bucket);
    if (owner === accessKeyId) return;
    // A bucket without an owner is Carrel's: there was a crash between creating it and setting the owner. One that belongs to a
    // former key of this bucket is Carrel's too.
    const isFormerKeys = owner !== undefined && isBucketKey(owner, bucket);
    if (owner !== '' && !isFormerKeys) throw new BucketTaken(bucket);
    await this.#order('/change-bucket-owner', { query: { bucket, owner: accessKeyId } });
    if (isFormerKeys) await this.#deleteUser(owner);
  }

  async #deleteUser(access: string): Promise<void> {
    await this.#order('/delete-user', { query: { access }, ignore: ['XAdminUserNotFound'] });
  }

  /** Uses the root key: removes the policy, and leaves only the owner in the access list. Throws BucketTaken. */
  async #closeToOthers({ bucket, accessKeyId }: TenantBucket): Promise<void> {
    try {
      const { Owner, Grants = [] } = await this.#client.send(new GetBucketAclCommand({ Bucket: bucket }));
      // Another owner's policy may have allowed the key.
      if (Owner?.ID !== accessKeyId) throw new BucketTaken(bucket);
      await this.#client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
      const isOwners = Grants.every(({ Grantee, Permission }) => Grantee?.ID === accessKeyId && Permission === 'FULL_CONTROL');
      // Sets a new access list, which no call of S3 does if ACLs are disabled.
      if (!isOwners) await this.#order('/change-bucket-owner', { query: { bucket, owner: accessKeyId } });
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Returns undefined if there is no such bucket. */
  async #ownerOf(bucket: string): Promise<string | undefined> {
    const listed = await this.#order('/list-buckets', {});
    for (const [, entry = ''] of listed?.matchAll(/<Buckets>(.*?)<\/Buckets>/gs) ?? []) {
      if (/<Name>(.*?)<\/Name>/s.exec(entry)?.[1] === bucket) return /<Owner>(.*?)<\/Owner>/s.exec(entry)?.[1] ?? '';
    }
    return undefined;
  }

  async #removeBucket(bucket: string, deadline: number): Promise<boolean> {
    try {
      for (;;) {
        if (this.#clock.monotonic() > deadline) return false;
        const { Contents = [] } = await this.#client.send(new ListObjectsV2Command({ Bucket: bucket }));
        if (Contents.length === 0) break;
        const Objects = Contents.map(({ Key }) => ({ Key }));
        await this.#client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
      }
      const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      for (const { Key, UploadId } of Uploads)
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
      await this.#client.send(new DeleteBucketCommand({ Bucket: bucket }));
    } catch (error) {
      if (statusOf(error) === 409) return false; // an upload ended in between
      throw translateError(error);
    }
    return true;
  }

  /** Sends one call; returns the answer's body, or null if it was refused with a code of `ignore`. */
  async #order(
    path: string,
    order: { query?: Record<string, string>; headers?: Record<string, string>; body?: string; ignore?: readonly string[] },
  ): Promise<string | null> {
    const url = new URL(path, this.#options.adminEndpoint);
    for (const [name, value] of Object.entries(order.query ?? {})) url.searchParams.set(name, value);
    const body = order.body ?? '';
    const headers = sign({ method: 'PATCH', url, headers: order.headers ?? {}, body }, this.#options, this.#clock.now());
    const { status, text } = await this.#fetch(url, { method: 'PATCH', headers, ...(body ? { body } : {}) });
    if (status < 300) return text;
    const code = /<Code>(.*?)<\/Code>/s.exec(text)?.[1] ?? '';
    if (order.ignore?.includes(code)) return null;
    const refusal = new AdminRefusal(status, code, /<Message>(.*?)<\/Message>/s.exec(text)?.[1] ?? '');
    throw status >= 500 ? new StoreUnavailableError('s3', refusal) : refusal;
  }

  async #fetch(url: URL, init: RequestInit): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS) });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw new StoreUnavailableError('s3', error);
    }
  }
}

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
