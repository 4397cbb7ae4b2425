/** The commands that Carrel sends. A tenant's Redis user may run these and no others (acl.ts). */

/** Commands on values, beside functions, which call only these two. */
export const COMMANDS = ['mget', 'set'] as const;

/** Commands that a client sends for a connection, functions, and the wake-up. */
export const CONNECTION_COMMANDS = ['ping', 'auth', 'hello', 'fcall', 'publish'] as const;
