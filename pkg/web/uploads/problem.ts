/** A request of an upload that was refused, or that no server answered (code `unreachable`). */
export interface Problem {
  /** The API's code of the error (docs/use-the-api.md, "What an error means"). */
  readonly code: string;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
}

/** What becomes of an upload after a problem. */
export type Reaction =
  | {
      readonly next: 'again';
      /** Why nothing else starts meanwhile. */
      readonly hold?: 'offline' | 'signed-out' | 'busy' | 'stopped';
      /** Undefined: until a person or an event releases it. */
      readonly afterMs?: number;
      /** Whether it counts as a failed attempt of this upload. */
      readonly isAttempt: boolean;
    }
  | { readonly next: 'conflict' | 'skipped' | 'failed' };

interface Circumstances {
  /** Failed attempts before this one. */
  readonly attempts: number;
  readonly onTaken: 'ask' | 'replace' | 'rename' | 'skip';
}

const BUSY: readonly string[] = ['rate_limit_exceeded', 'too_many_transfers', 'unavailable', 'status_429', 'status_503'];
/** Faults of a server or of the way to it, which another attempt may not meet. */
const PASSING: readonly string[] = ['internal', 'conflict', 'request_timeout'];
/** What refuses every other upload too, until somebody does something about it. */
const FOR_ALL: readonly string[] = ['quota_exceeded', 'suspended', 'link_ended', 'share_password_required'];
/** The pauses between them, 15 s in all, outlast the key of a request whose server died: 10 s (pkg/http/idempotency.ts). */
const ATTEMPTS = 5;
const OFFLINE_MS = 5_000;
const BUSY_MS = 5_000;

export function reactionTo({ code, retryAfter }: Problem, { attempts, onTaken }: Circumstances): Reaction {
  if (code === 'name_conflict' && onTaken === 'ask') return { next: 'conflict' };
  if (code === 'name_conflict' && onTaken === 'skip') return { next: 'skipped' };
  if (code === 'unauthenticated') return { next: 'again', hold: 'signed-out', isAttempt: false };
  if (FOR_ALL.includes(code)) return { next: 'again', hold: 'stopped', isAttempt: false };
  if (code === 'unreachable') return { next: 'again', hold: 'offline', afterMs: OFFLINE_MS, isAttempt: false };
  if (BUSY.includes(code)) {
    const afterMs = retryAfter === undefined ? BUSY_MS : retryAfter * 1_000;
    return { next: 'again', hold: 'busy', afterMs, isAttempt: false };
  }
  if ((PASSING.includes(code) || /^status_(408|409|423|5..)$/.test(code)) && attempts + 1 < ATTEMPTS)
    return { next: 'again', hold: 'busy', afterMs: 1_000 * 2 ** attempts, isAttempt: true };
  return { next: 'failed' };
}
