/** The commands that Carrel sends. A tenant's Redis user may run these and no others (acl.ts). */

/** Of values, beside functions, which call these two alone. */
export const COMMANDS = ['mget', 'set'] as const;

/** What a client sends on a connection by itself, functions, and the wake-up. */
export const CONNECTION_COMMANDS = ['ping', 'auth', 'hello', 'fcall', 'publish'] as const;
