import { z } from 'zod';
import { readBy } from '../runtime/config.ts';
import { parseDataKeys, parseSealingKeys } from '../runtime/sealing.ts';

/** The settings of stores and keys that several programs share, by the names of their environment variables. */

const redisUrl = z.url({ protocol: /^rediss?$/, error: 'must be an address' });

/** For operator, worker and `carrel`, which access all tenants. */
export const platformSettings = {
  CARREL_PLATFORM_KEYS: readBy(parseSealingKeys).describe('id:base64 of 32 random bytes, comma-separated; the first seals'),
  CARREL_REDIS_ADMIN_URL: redisUrl.describe('redis://user:password@host:port of an administrator of the tenants’ Redis'),
};

/** For worker and `carrel`. */
export const queueSettings = {
  CARREL_QUEUE_REDIS_URL: redisUrl.describe(
    'redis://user:password@host:6379 of a Redis for the queues alone, in which no tenant has a user',
  ),
};

/** For a server, which accesses one tenant. */
export const tenantSettings = {
  CARREL_REDIS_URL: redisUrl.describe('redis://user:password@host:6379'),
  CARREL_DATA_KEYS: readBy(parseDataKeys).describe('{"keys":[{"id":"…","key":"base64 of 32 bytes"}, …]}, the first seals'),
};
