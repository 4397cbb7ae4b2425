import { isError, StoreUnavailableError } from '../unavailable.ts';

/** No object has this key. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';
  readonly key: string;

  constructor(key: string) {
    super(`there is no object ${key}`);
    this.key = key;
  }
}

/** In the code or, if the SDK has wrapped the system's error, only in the message. */
const UNREACHABLE = /\b(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b|socket hang up/;

/** The store refused to delete an object. */
export class DeleteRefused extends Error {
  override readonly name = 'DeleteRefused';
  readonly code: string;

  constructor(key: string, code: string, message: string) {
    super(`${key}: ${code} ${message}`);
    this.code = code;
  }
}

/** A listing does not end. */
export class ListingEndless extends Error {
  override readonly name = 'ListingEndless';

  constructor(bucket: string) {
    super(`the listing of bucket ${bucket} does not end`);
  }
}

/** A reply other than an object's bytes exceeds its limit. */
export class ReplyTooLarge extends Error {
  override readonly name = 'ReplyTooLarge';
}

/** A listing does not have the format of the S3 API. */
export class ReplyMalformed extends Error {
  override readonly name = 'ReplyMalformed';

  constructor(why: string) {
    super(`the store's reply cannot be read: ${why}`);
  }
}

/** The fields of SDK errors that are used. */
interface ServiceError extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

export const statusOf = (error: unknown): number | undefined => (error as Partial<ServiceError>).$metadata?.httpStatusCode;

export const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'NoSuchKey' || error.name === 'NotFound' || (statusOf(error) === 404 && error.name !== 'NoSuchBucket'));

/**
 * Converts a missing connection, a late answer, a 5xx or a request to slow down to StoreUnavailableError; returns other errors
 * unchanged.
 */
export const translateError = (error: unknown): unknown => (isAway(error) ? new StoreUnavailableError('s3', error) : error);

/** Returns true if the store does not answer, or must not be contacted (EgressError of a guarded connection). */
export function isAway(error: unknown): boolean {
  if (!isError(error)) return false;
  const { name, code, message } = error as ServiceError;
  const status = statusOf(error) ?? 0;
  if (name === 'EgressError' || name === 'ReplyTooLarge') return true;
  return name === 'TimeoutError' || UNREACHABLE.test(`${code ?? ''} ${message}`) || status >= 500 || status === 429;
}
