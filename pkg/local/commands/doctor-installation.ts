import { clusterClient } from '../client.ts';
import { type Check, type Finding, findingOf, linesOf } from '../doctor/check.ts';
import { clusterChecks } from '../doctor/cluster.ts';
import { type StoreAccess, storeChecks } from '../doctor/stores.ts';
import { storeAddresses } from '../platform.ts';
import { existingStateDirectory } from '../state-directory.ts';
import { tenantNamespaces } from '../tenant-namespaces.ts';

interface Options {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Looks at a whole installation and prints a line for each part: what is as it should be, and what is wrong, with what to do. True: nothing is wrong.
 * Changes nothing. Throws CommandError where there is no installation to look at.
 */
export async function checkInstallation(options: Options): Promise<boolean> {
  const { stateDirectory, env } = options;
  const client = await clusterClient(stateDirectory, env);
  try {
    const checks: Check[] = [
      ...storeChecks(accessOf(options)),
      ...clusterChecks(client, env['CARREL_LEADER_ELECTION_NAMESPACE'] || 'carrel-system', tenantNamespaces(env)),
    ];
    const findings: Finding[] = [];
    for (const check of checks) {
      const finding = await findingOf(check);
      findings.push(finding);
      for (const line of linesOf(finding)) process.stdout.write(`${line}\n`);
    }
    const faults = findings.reduce((sum, { wrong = [] }) => sum + wrong.length, 0);
    process.stdout.write(faults === 0 ? 'Nothing is wrong.\n' : `${faults} ${faults === 1 ? 'thing is' : 'things are'} wrong.\n`);
    return faults === 0;
  } finally {
    await client.close();
  }
}

/** As the operator has it, in the operator's pod; else of the platform on this machine. */
function accessOf({ env, stateDirectory }: Options): StoreAccess {
  const shardsDir = env['CARREL_SHARDS_DIR'];
  if (!shardsDir) {
    const { shardsDir: own, redis, s3 } = storeAddresses(existingStateDirectory(stateDirectory));
    return { shardsDir: own, redisUrl: redis.adminUrl, queueRedisUrl: redis.queueUrl, s3 };
  }
  const { CARREL_S3_ENDPOINT: endpoint, CARREL_S3_ACCESS_KEY_ID: accessKeyId, CARREL_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const s3 =
    endpoint && accessKeyId && secretAccessKey
      ? { endpoint, region: env['CARREL_S3_REGION'] || 'us-east-1', accessKeyId, secretAccessKey }
      : undefined;
  return { shardsDir, redisUrl: env['CARREL_REDIS_ADMIN_URL'], queueRedisUrl: env['CARREL_QUEUE_REDIS_URL'], s3 };
}
