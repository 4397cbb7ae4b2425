import { EgressError } from '../../net/egress-error.ts';
import type { Registry } from '../../store/postgres/registry.ts';
import { StorageTaken } from '../../store/postgres/storage-locations.ts';
import { MARKER_KEY } from '../../store/s3/content-key.ts';
import { markerOf, writeFirstMarker, writeMarker } from '../../store/s3/owner-marker.ts';
import { Objects, type ObjectsOptions } from '../../store/s3/objects.ts';
import { ConditionError } from '../conditions/runner.ts';
import { isSameLocation, type StorageLocation, locationText } from './storage-migration.ts';

/** A location that another tenant releases is not watched. */
const TAKEN_RETRY_MS = 60_000;
const UNREACHABLE_RETRY_MS = 30_000;
/** The marker of a location that two tenants shared before locations were recorded: neither's sweep deletes there. */
const SHARED = 'shared by several tenants';

/** The text of a tenant's marker object. */
export const markerText = (tenantId: string, installation: string): string => `tenant ${tenantId} of ${installation}`;

interface Taking {
  readonly registry: Registry;
  readonly tenantId: string;
  readonly isOwn: boolean;
  /** Where the tenant's objects are, as far as the registry knows. */
  readonly before: StorageLocation | undefined;
  /** With its marker; sealed into the registry as JSON. */
  readonly wanted: ObjectsOptions & { readonly marker: string };
  /** What is sealed. */
  readonly sealed: string;
}

/**
 * Takes a storage location for a tenant: in the registry together with the sealed access, and by a marker object, which also another
 * installation at the same store reads. Throws ConditionError StorageTaken, which never names the other tenant.
 */
export async function takeStorage({ registry, tenantId, isOwn, before, wanted, sealed }: Taking): Promise<void> {
  const objects = new Objects(wanted);
  const asked = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      throw isOwn ? error : unreachable(wanted, error);
    });
  try {
    const found = await asked(markerOf(objects));
    const isThere = before !== undefined && isSameLocation(before, wanted);
    const isShared = isThere && (await registry.sharesStorage(tenantId));
    if (found !== null && found !== wanted.marker && !(isShared && found === SHARED)) {
      if (isThere && found !== SHARED) await asked(writeMarker(objects, SHARED));
      throw marked(wanted);
    }
    const { endpoint, bucket, prefix = '' } = wanted;
    await registry.setStorage(tenantId, { endpoint, bucket, prefix, isOwn }, sealed).catch(async (error: unknown) => {
      if (!(error instanceof StorageTaken)) throw error;
      if (isThere) await asked(writeMarker(objects, SHARED));
      throw taken(wanted, 'or one around or within it is; name another bucket or prefix', error);
    });
    if (isShared) {
      if (found !== SHARED) await asked(writeMarker(objects, SHARED));
      return;
    }
    // A tenant that shares the location may have marked it meanwhile.
    const marker = await asked(writeFirstMarker(objects, wanted.marker));
    if (marker !== wanted.marker) throw marked(wanted);
  } finally {
    objects.close();
  }
}

const marked = (wanted: StorageLocation): ConditionError =>
  taken(
    wanted,
    `says its object ${wanted.prefix ?? ''}${MARKER_KEY}; name another bucket or prefix, or delete that object once no other tenant has files there`,
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

/** Whether storage that a tenant named can be reached with its key. Throws ConditionError StorageUnreachable, EndpointRefused. */
export async function reach(storage: ObjectsOptions): Promise<void> {
  const objects = new Objects(storage);
  try {
    await objects.ping();
  } catch (error) {
    throw unreachable(storage, error);
  } finally {
    objects.close();
  }
}

function unreachable(storage: ObjectsOptions, cause: unknown): ConditionError {
  const refused = refusalIn(cause);
  if (refused)
    return new ConditionError(
      'EndpointRefused',
      `spec.storage: ${storage.endpoint} is not dialled: ${refused.message} (CARREL_EGRESS_ALLOW)`,
      {
        isTerminal: true,
        retryAfterMs: UNREACHABLE_RETRY_MS,
        cause,
      },
    );
  // Messages of a store bear an id of the request: another one each time.
  const why = cause instanceof Error ? nameOf(cause) : String(cause);
  return new ConditionError('StorageUnreachable', `spec.storage: bucket ${storage.bucket} cannot be reached with the key given (${why})`, {
    retryAfterMs: UNREACHABLE_RETRY_MS,
    cause,
  });
}

/** What the guarded connector says of an address that it does not dial. */
function refusalIn(error: unknown): EgressError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EgressError && ['address_refused', 'plain_http_refused'].includes(cause.code) ? cause : undefined;
}

/** A store chooses the name of its error. */
const nameOf = (error: Error): string => error.name.replaceAll(/[^\w.-]/g, '').slice(0, 64);
