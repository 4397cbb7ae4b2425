import type { RequestInfo } from '../../api/endpoint.ts';
import type { NewObjects } from '../blobs/blobs.ts';
import type { QuotaReservation } from '../blobs/quota-reservation.service.ts';
import type { WritableFile } from '../model/files/file-writer.ts';
import type { UploadTarget } from './uploads.sql.ts';

/** An upload whose bytes are stored. */
export interface Upload extends WritableFile {
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

/** Returns the number of bytes that will come, if the client declares it. */
export function contentLength({ headers }: RequestInfo): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
