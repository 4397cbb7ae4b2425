/** The commands that we use; a tenant's Redis user may run these and no others (acl.ts). */
export const COMMANDS = [
  'get',
  'set',
  'mget',
  'del',
  'exists',
  'expire',
  'pexpire',
  'ttl',
  'pttl',
  'incr',
  'incrby',
  'decr',
  'hget',
  'hset',
  'hmget',
  'hgetall',
  'hdel',
  'hincrby',
  'sadd',
  'srem',
  'smembers',
  'sismember',
  'zadd',
  'zrem',
  'zcard',
  'zcount',
  'zrange',
  'zrangebyscore',
  'zremrangebyscore',
  'zscore',
] as const;
export type CommandName = (typeof COMMANDS)[number];

/** Beside COMMANDS: what a client sends on a connection by itself, scripts, and the wake-up. */
export const CONNECTION_COMMANDS = ['ping', 'auth', 'hello', 'quit', 'select', 'time', 'eval', 'evalsha', 'publish', 'unlink'] as const;
