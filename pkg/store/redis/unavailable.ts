import { isError } from '../unavailable.ts';

/**
 * Replies of a server that is running and cannot serve: it loads its data, runs a script, is full, is a replica, or was restarted
 * and knows neither the password nor the functions yet.
 */
const CANNOT_SERVE = new RegExp(
  [
    /^(LOADING|BUSY|OOM|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/,
    /^ERR Function not found/,
    /^ERR max number of clients/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/**
 * Returns true if an error of a command means that Redis is unavailable. Any other error reply (a wrong type, a refused command)
 * is the caller's mistake.
 */
export const isRedisUnavailable = (error: unknown): boolean =>
  !(isError(error) && error.name === 'ReplyError') || CANNOT_SERVE.test(error.message);
