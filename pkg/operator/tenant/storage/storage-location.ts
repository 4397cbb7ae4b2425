import { EgressError } from '../../../net/egress-error.ts';
import { StoreUnavailableError } from '../../../store/unavailable.ts';
import type { Registry } from '../../../store/postgres/registry.ts';
import { StorageTaken } from '../../../store/postgres/storage-locations.ts';
import { MARKER_KEY } from '../../../store/s3/content-key.ts';
import { ListingEndless, ReplyMalformed } from '../../../store/s3/errors.ts';
import { markerOf, writeFirstMarker, writeMarker } from '../../../store/s3/owner-marker.ts';
import { Objects, type ObjectsOptions } from '../../../store/s3/objects.ts';
import { ConditionError } from '../../conditions/runner.ts';
import { isSameLocation, type StorageLocation, locationText } from './storage-migration.ts';

/** The operator is not notified when another tenant releases a location. */
const TAKEN_RETRY_MS = 60_000;
const UNREACHABLE_RETRY_MS = 30_000;
/** The time limit of one question to a store. */
const ANSWER_MS = 10_000;
/** The time limit of all questions of one pass: less than that of a reconcile, so that the status names what it waits for. */
const PASS_MS = 25_000;
/** The marker of a location that two tenants shared before locations were recorded: neither's sweep deletes there. */
const SHARED = 'shared by several tenants';

/** The text of a tenant's marker object. */
export const markerText = (tenantId: string, installation: string): string => `tenant ${tenantId} of ${installation}`;

/**
 * A store to which one pass sends questions. If a tenant named it, its failures are ConditionErrors: StorageUnreachable,
 * EndpointRefused.
 */
export class AskedStore {
  readonly location: ObjectsOptions;
  readonly #isOwn: boolean;
  readonly #objects: Objects;
  readonly #signal: AbortSignal;
  readonly #pass = AbortSignal.timeout(PASS_MS);

  /** `signal` is the reconcile's. `isOwn`: the platform's store. */
  constructor(location: ObjectsOptions, { isOwn, signal }: { readonly isOwn: boolean; readonly signal: AbortSignal }) {
    this.location = location;
    this.#isOwn = isOwn;
    this.#objects = new Objects(location);
    this.#signal = AbortSignal.any([signal, this.#pass]);
  }

  /** Checks that the key reaches the bucket. Throws ConditionError. */
  async reach(): Promise<void> {
    await this.ask((objects) => objects.ping());
  }

  /** Returns the answer to `question`, within 10 s and the remaining time of the pass. */
  async ask<T>(question: (objects: Objects) => Promise<T>): Promise<T> {
    const inTime = AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWER_MS)]);
    try {
      return await question(this.#objects.until(inTime));
    } catch (error) {
      throw this.#isOwn ? error : unreachable(this.location, error, this.#pass.aborted ? PASS_MS : ANSWER_MS);
    }
  }

  close(): void {
    this.#objects.close();
  }
}

interface Taking {
  readonly registry: Registry;
  readonly tenantId: string;
  readonly isOwn: boolean;
  /** The present location of the tenant's objects in the registry. */
  readonly before: StorageLocation | undefined;
  readonly store: AskedStore;
  readonly marker: string;
  /** The credentials to seal. */
  readonly sealed: string;
}

/**
 * Takes a storage location for a tenant: in the registry together with the sealed access, and by a marker object, which also
 * another installation at the same store reads. Throws ConditionError StorageTaken, which never names the other tenant.
 */
export async function takeStorage({ registry, tenantId, isOwn, before, store, marker, sealed }: Taking): Promise<void> {
  const wanted = store.location;
  const markShared = (): Promise<void> => store.ask((objects) => writeMarker(objects, SHARED));
  const found = await store.ask(markerOf);
  const isThere = before !== undefined && isSameLocation(before, wanted);
  const isShared = isThere && (await registry.sharesStorage(tenantId));
  if (found !== null && found !== marker && !(isShared && found === SHARED)) {
    if (isThere && found !== SHARED) await markShared();
    throw marked(wanted);
  }
  const { endpoint, bucket, prefix = '' } = wanted;
  await registry.setStorage(tenantId, { endpoint, bucket, prefix, isOwn }, sealed).catch(async (error: unknown) => {
    if (!(error instanceof StorageTaken)) throw error;
    if (isThere) await markShared();
    throw taken(wanted, 'or one around or within it is; name another bucket or prefix', error);
  });
  if (isShared) {
    if (found !== SHARED) await markShared();
    return;
  }
  // A tenant that shares the location may have marked it meanwhile.
  const first = await store.ask((objects) => writeFirstMarker(objects, marker));
  if (first !== marker) throw marked(wanted);
}

const marked = (wanted: StorageLocation): ConditionError =>
  taken(
    wanted,
    `says its object ${wanted.prefix ?? ''}${MARKER_KEY}; name another bucket or prefix, or delete that object once ` +
      'no other tenant has files there',
  );

const taken = (wanted: StorageLocation, why: string, cause?: unknown): ConditionError =>
  new ConditionError('StorageTaken', `spec.storage: ${locationText(wanted)} is another tenant's, ${why}`, {
    isTerminal: true,
    retryAfterMs: TAKEN_RETRY_MS,
    cause,
  });

/** Writes a marker that stops every sweep there. Throws the store's error, or that of the signal. */
export async function markShared(storage: ObjectsOptions, signal: AbortSignal): Promise<void> {
  const objects = new Objects(storage);
  const inTime = objects.until(signal);
  try {
    if ((await markerOf(inTime)) !== SHARED) await writeMarker(inTime, SHARED);
  } finally {
    objects.close();
  }
}

function unreachable(storage: ObjectsOptions, cause: unknown, within: number): ConditionError {
  const refused = refusalIn(cause);
  if (refused)
    return new ConditionError(
      'EndpointRefused',
      `spec.storage: ${storage.endpoint} is not allowed: ${refused.message} (CARREL_EGRESS_ALLOW)`,
      {
        isTerminal: true,
        retryAfterMs: UNREACHABLE_RETRY_MS,
        cause,
      },
    );
  const why = unreachableText(storage, cause, within);
  return new ConditionError('StorageUnreachable', `spec.storage: ${why}`, { retryAfterMs: UNREACHABLE_RETRY_MS, cause });
}

/** Returns why a store cannot be reached, in a text that is the same on each try. `within`: the time that it had, in ms. */
export function unreachableText({ endpoint, bucket }: StorageLocation, cause: unknown, within = ANSWER_MS): string {
  const store = `the store at ${URL.canParse(endpoint) ? new URL(endpoint).host : endpoint}`;
  const isLate = cause instanceof StoreUnavailableError && (cause.cause as Error | undefined)?.name === 'TimeoutError';
  if (isLate) return `${store} did not answer within ${within / 1000} s`;
  if (cause instanceof ReplyMalformed) return `${store} answered with a listing that cannot be read`;
  if (cause instanceof ListingEndless) return `${store} lists bucket ${bucket} without end`;
  // Messages of a store contain the id of the request, which differs each time.
  return `bucket ${bucket} cannot be reached with the key given (${cause instanceof Error ? nameOf(cause) : String(cause)})`;
}

/** Returns the guarded connector's error about an address that it does not dial. */
function refusalIn(error: unknown): EgressError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EgressError && ['address_refused', 'plain_http_refused'].includes(cause.code) ? cause : undefined;
}

/** Limits the error's name, since the store chooses it. */
const nameOf = (error: Error): string => error.name.replaceAll(/[^\w.-]/g, '').slice(0, 64);
