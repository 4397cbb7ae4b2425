import type { RequestInfo } from '../../api/endpoint.ts';
import type { NewObjects, StoredBlob } from '../blobs/blobs.ts';
import type { QuotaReservation } from '../blobs/quota-reservation.service.ts';
import type { UploadTarget } from './uploads.sql.ts';

export interface Upload {
  readonly name: string;
  /** The field of the request that has the name, where it is not the file's. */
  readonly nameField?: string;
  readonly mimeType: string;
  readonly blob: StoredBlob;
  readonly target: UploadTarget;
}

/** The key of the new object, and the reservation of its owner's quota. */
export interface UploadDestination {
  readonly key: string;
  readonly into: NewObjects;
  readonly reservation: QuotaReservation;
  /** All of the content is reserved already, so that it need not be compared with what remains. */
  readonly isReserved?: boolean;
  /** Aborted when the client goes away or is too slow. */
  readonly signal: AbortSignal;
}

/** Of bytes that are reserved as `id` until they are counted. */
export const alreadyReserved = (id: string): QuotaReservation => ({ id, needsHold: () => false, hold: async () => undefined });

/** Bytes that will come, where the client says so. */
export function contentLength({ headers }: RequestInfo): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
