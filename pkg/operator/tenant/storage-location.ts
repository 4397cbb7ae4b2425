import { EgressError } from '../../net/egress-error.ts';
import type { Registry } from '../../store/postgres/registry.ts';
import { StorageTaken } from '../../store/postgres/storage-locations.ts';
import { markerOf, MARKER_KEY, writeFirstMarker, writeMarker } from '../../store/s3/marker.ts';
import { Objects, type ObjectsOptions } from '../../store/s3/objects.ts';
import { NotYet } from '../steps.ts';
import { isSame, type Place, text } from './moved-storage.ts';

/** Nobody tells us when another tenant leaves a location. */
const TAKEN_RETRY_MS = 60_000;
const UNREACHABLE_RETRY_MS = 30_000;
/** In the marker of a location where two tenants had their objects before anybody recorded it: neither's sweep deletes there. */
const SHARED = 'shared by several tenants';

/** What the marker object of a tenant says. */
export const markerText = (tenantId: string, installation: string): string => `tenant ${tenantId} of ${installation}`;

interface Taking {
  readonly registry: Registry;
  readonly tenantId: string;
  readonly isOwn: boolean;
  /** Where the tenant's objects lie as far as the registry knows. */
  readonly before: Place | undefined;
  /** With its marker; sealed into the registry as JSON. */
  readonly wanted: ObjectsOptions & { readonly marker: string };
  /** What is sealed. */
  readonly sealed: string;
}

/**
 * Takes a storage location for a tenant: in the registry together with the sealed access, and by a marker object, which also another
 * installation at the same store sees. Throws NotYet StorageTaken, which never tells whose it is.
 */
export async function takeStorage({ registry, tenantId, isOwn, before, wanted, sealed }: Taking): Promise<void> {
  const objects = new Objects(wanted);
  const asked = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      throw isOwn ? error : unreachable(wanted, error);
    });
  try {
    const found = await asked(markerOf(objects));
    const isThere = before !== undefined && isSame(before, wanted);
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
    // Who shares the location may have said so meanwhile.
    const marker = await asked(writeFirstMarker(objects, wanted.marker));
    if (marker !== wanted.marker) throw marked(wanted);
  } finally {
    objects.close();
  }
}

const marked = (wanted: Place): NotYet =>
  taken(
    wanted,
    `says its object ${wanted.prefix ?? ''}${MARKER_KEY}; name another bucket or prefix, or delete that object once nobody else keeps files there`,
  );

const taken = (wanted: Place, why: string, cause?: unknown): NotYet =>
  new NotYet('StorageTaken', `spec.storage: ${text(wanted)} is another tenant's, ${why}`, {
    isStuck: true,
    retryAfterMs: TAKEN_RETRY_MS,
    cause,
  });

/** Says in the marker that nobody's sweep may delete there. Throws what the store refuses with. */
export async function markShared(storage: ObjectsOptions): Promise<void> {
  const objects = new Objects(storage);
  try {
    if ((await markerOf(objects)) !== SHARED) await writeMarker(objects, SHARED);
  } finally {
    objects.close();
  }
}

/** Whether storage that a tenant named can be reached with its key. Throws NotYet StorageUnreachable, EndpointRefused. */
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

function unreachable(storage: ObjectsOptions, cause: unknown): NotYet {
  const refused = refusalIn(cause);
  if (refused)
    return new NotYet('EndpointRefused', `spec.storage: ${storage.endpoint} is not dialled: ${refused.message} (CARREL_EGRESS_ALLOW)`, {
      isStuck: true,
      retryAfterMs: UNREACHABLE_RETRY_MS,
      cause,
    });
  // Messages of a store bear an id of the request: another one each time.
  const why = cause instanceof Error ? nameOf(cause) : String(cause);
  return new NotYet('StorageUnreachable', `spec.storage: bucket ${storage.bucket} cannot be reached with the key given (${why})`, {
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
