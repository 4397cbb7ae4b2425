import { isError } from '../unavailable.ts';

/**
 * Replies of a server that is there and cannot serve: it loads its data, runs somebody's script, is full, is a replica, was
 * restarted and knows neither the password nor the functions yet.
 */
const CANNOT_SERVE =
  /^(LOADING|BUSY|OOM|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b|^ERR Function not found|^ERR max number of clients/;

/**
 * Whether an error of a command means that Redis is unavailable. Any other error reply (a wrong type, a refused command) is a
 * mistake of the caller.
 */
export const isRedisUnavailable = (error: unknown): boolean =>
  !(isError(error) && error.name === 'ReplyError') || CANNOT_SERVE.test(error.message);
