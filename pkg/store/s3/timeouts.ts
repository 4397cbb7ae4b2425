/** For opening a connection. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** An unused connection is closed after this time. */
export const KEPT_CONNECTION_MS = 10_000;
/** For one attempt at a request without a body. */
export const ANSWER_TIMEOUT_MS = 4_500;
/** The store joins or copies all bytes before it answers. */
export const WHOLE_OBJECT_TIMEOUT_MS = 120_000;

/** Below this rate of a part's upload, the store counts as unavailable. */
const LEAST_BYTES_PER_SECOND = 512 * 1024;

/** Returns the time-out of one attempt at sending this many bytes: 20.5 s for a part of 8 MiB. */
export const sendTimeoutMs = (bytes: number): number => ANSWER_TIMEOUT_MS + Math.ceil((bytes * 1000) / LEAST_BYTES_PER_SECOND);

/** Below this rate of a reply other than an object, the store counts as unavailable. */
const LEAST_REPLY_BYTES_PER_SECOND = 64 * 1024;

/** Returns the total time limit for this many bytes of such a reply: 4.5 s before the first, 36.5 s for 2 MiB. */
export const replyTimeoutMs = (bytes: number): number =>
  ANSWER_TIMEOUT_MS + Math.ceil((bytes * 1000) / LEAST_REPLY_BYTES_PER_SECOND);
