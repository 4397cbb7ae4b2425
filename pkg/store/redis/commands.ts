/** The commands that Carrel uses. A tenant's Redis user may run these and no others (acl.ts). */

/** Sent as they are. */
export const COMMANDS = ['get', 'mget', 'set', 'del', 'zrem', 'pexpire'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** Called by scripts (rate-limiter.ts, tagged-cache.ts), beside COMMANDS. */
export const SCRIPT_COMMANDS = ['zadd', 'zcard', 'zrange', 'zremrangebyscore', 'zscore'] as const;

/** What a client sends on a connection by itself, scripts, and the wake-up. */
export const CONNECTION_COMMANDS = ['ping', 'auth', 'hello', 'eval', 'evalsha', 'publish'] as const;
