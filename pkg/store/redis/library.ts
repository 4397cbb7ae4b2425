import { defineFunction, PREFIX, type FunctionCall, type RedisFunction } from './functions.ts';
import { TAKE, UNDO } from './sliding-log-limiter.ts';
import { COUNT } from './grouped-window-limiter.ts';
import { LOOKUP, MARK, RENEW } from './tagged-cache.ts';

/**
 * The library of functions that tenants' users may call. The operator loads it; functions.ts states what each function may do.
 */
export const LIBRARY = 'carrel';

const ARGS_MAX = 2_000;
/** For a version, a time or the name of a call. */
const ARG_BYTES_MAX = 128;
/**
 * The keys that one MGET reads. Values have at most 1 MiB (`proto-max-bulk-len`), so this bounds the memory of a call beyond
 * VALUES_BYTES_MAX.
 */
const READ_AT_ONCE = 16;
/** The limit of all values that a call reads. */
const VALUES_BYTES_MAX = 16 * 1024 * 1024;

// `get` returns the values of keys; false if there is none, or one longer than `longest` bytes, which no function of ours has
// stored.
const HELPERS = `
local function get(keys, longest)
  local found, bytes = {}, 0
  for first = 1, #keys, ${READ_AT_ONCE} do
    local last = math.min(first + ${READ_AT_ONCE - 1}, #keys)
    local values = redis.call('MGET', unpack(keys, first, last))
    for i = 1, last - first + 1 do
      local value = values[i]
      local size = value and #value or 0
      bytes = bytes + size
      found[first + i - 1] = size <= longest and value
    end
    if bytes > ${VALUES_BYTES_MAX} then error('the values are too large') end
  end
  return found
end
local function bounded(run, keysMax)
  return function(keys, args)
    if #keys > keysMax then error('too many keys') end
    if #args > ${ARGS_MAX} then error('too many arguments') end
    for i = 1, #args do
      if #args[i] > ${ARG_BYTES_MAX} then error('an argument is too long') end
    end
    return run(keys, args)
  end
end`;

/** Counts requests and looks up cached values in one call: one command instead of two, for this process and for Redis. */
const COUNT_AND_LOOKUP = defineFunction(
  'count_and_lookup',
  COUNT.keysMax + LOOKUP.keysMax,
  `local keys, args = tonumber(ARGV[1]), 2 + tonumber(ARGV[2])
   return {
     ${COUNT.name}({unpack(KEYS, 1, keys)}, {unpack(ARGV, 3, args)}),
     ${LOOKUP.name}({unpack(KEYS, keys + 1)}, {unpack(ARGV, args + 1)})
   }`,
);

/** The reply is the list of both replies. An error of either is the error of both, and the effects of the first stay. */
export const countAndLookup = (count: FunctionCall, lookup: FunctionCall): FunctionCall =>
  COUNT_AND_LOOKUP.call([...count.keys, ...lookup.keys], [count.keys.length, count.args.length, ...count.args, ...lookup.args]);

/** COUNT_AND_LOOKUP calls two functions that must precede it. */
const FUNCTIONS: readonly RedisFunction[] = [COUNT, LOOKUP, COUNT_AND_LOOKUP, MARK, RENEW, TAKE, UNDO];

/** In the form that FUNCTION LOAD accepts. */
export const LIBRARY_CODE = [
  `#!lua name=${LIBRARY}`,
  HELPERS,
  ...FUNCTIONS.map(({ name, lua }) => `local function ${name}(KEYS, ARGV)\n   ${lua}\nend`),
  ...FUNCTIONS.map(({ name, keysMax }) => `redis.register_function('${PREFIX}${name}', bounded(${name}, ${keysMax}))`),
].join('\n');
