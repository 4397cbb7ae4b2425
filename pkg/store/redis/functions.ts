/**
 * A function of the library that the operator loads into Redis (library.ts). Tenants call functions and send no Lua: what runs in
 * Redis is Carrel's.
 *
 * Every argument is a tenant's own choice. Invariants of each function's Lua:
 * - It names every key in KEYS: Redis compares those with the tenant's prefix, and ioredis prepends the prefix there alone.
 * - Its steps are bounded by the number of keys and arguments, whatever the arguments and stored values are. Values that are
 *   longer than it stores itself it does not read.
 * - It gives every key that it sets a TTL.
 *
 * A function whose keys, arguments or reply change gets another name: servers of two releases call the library side by side.
 */
export interface RedisFunction {
  readonly name: string;
  /** The most keys of a call. */
  readonly keysMax: number;
  /** The body of a Lua function with the parameters KEYS and ARGV. */
  readonly lua: string;
  call(keys: readonly string[], args?: readonly (string | number)[]): FunctionCall;
}

export interface FunctionCall {
  readonly fn: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export const defineFunction = (name: string, keysMax: number, lua: string): RedisFunction => ({
  name,
  keysMax,
  lua,
  call: (keys, args = []) => ({ fn: `${PREFIX}${name}`, keys, args }),
});

/** Functions of all libraries share their names. */
export const PREFIX = 'carrel_';
