import { parseAllowedRanges } from '../net/private-address.ts';
import { parseSealingKeys } from '../runtime/sealing.ts';
import { storeAddresses } from './platform.ts';
import { EGRESS_ALLOW } from './programs/carrel.ts';
import { existingStateDirectory } from './state-directory.ts';

/**
 * Returns the stores of the platform on this machine, as its operator and worker reach them. Throws CommandError if there is no
 * platform.
 */
export function storesOf(stateDirectory: string) {
  const { shardsDir, platformKeys, redis, s3 } = storeAddresses(existingStateDirectory(stateDirectory));
  return {
    shardsDir,
    platformKeys: parseSealingKeys(platformKeys),
    redisUrl: redis.adminUrl,
    queueRedisUrl: redis.queueUrl,
    objectStore: s3,
    egressAllow: parseAllowedRanges(EGRESS_ALLOW),
  };
}
