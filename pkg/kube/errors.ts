/** A `Status` object of the API server, with the fields that are used here. */
export interface ApiStatus {
  kind?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: StatusDetails;
}

interface StatusDetails {
  name?: string;
  kind?: string;
  retryAfterSeconds?: number;
  causes?: { reason?: string; message?: string; field?: string }[];
}

/**
 * The API server refused a call, or did not answer it.
 * `status` is the HTTP status, or 0 without a complete answer. `reason` is the server's word (`NotFound`, `Conflict`, …), or
 * `Unreachable` or `Timeout` if `status` is 0.
 */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    more: { details?: StatusDetails | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.status = status;
    this.reason = reason;
    this.details = more.details;
  }

  static fromStatus(httpStatus: number, status: ApiStatus, what: string): KubeError {
    const code = status.code ?? httpStatus;
    const message = `${what}: ${status.message ?? `the API server answered ${code}`}`;
    return new KubeError(code, status.reason ?? 'Unknown', message, { details: status.details });
  }
}

const has = (error: unknown, status: number): boolean => error instanceof KubeError && error.status === status;

export const isNotFound = (error: unknown): boolean => has(error, 404);
/**
 * The API server serves no such kind, since its CustomResourceDefinition is missing. A 404 for an object, or for its namespace,
 * would name that.
 */
export const isKindMissing = (error: unknown): boolean => has(error, 404) && (error as KubeError).details?.name === undefined;
/** The caller lacks a right. */
export const isForbidden = (error: unknown): boolean => has(error, 403);
export const isInvalid = (error: unknown): boolean => has(error, 422);
/** The object has changed since it was read, or another field manager holds a field. */
export const isConflict = (error: unknown): boolean => has(error, 409) && (error as KubeError).reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown): boolean => has(error, 409) && (error as KubeError).reason === 'AlreadyExists';
/** The resource version or continue token is too old: list again. */
export const isGone = (error: unknown): boolean => has(error, 410);
/** A namespace that is being deleted accepts no new objects. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof KubeError &&
  error.status === 403 &&
  (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
/** Trying again later may help: no answer, too many requests, or a failure of the server. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);
