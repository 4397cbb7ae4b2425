import { z } from 'zod';
import { RETRY_SECONDS } from '../../pkg/api/retry-schedule.ts';
import { parseAllowedRanges } from '../../pkg/net/private-address.ts';
import { ConfigError, isReadable, logLevel, wholeNumber } from '../../pkg/runtime/config.ts';
import { traceSettings } from '../../pkg/runtime/trace-settings.ts';
import { trustedCertificatesFile } from '../../pkg/runtime/trusted-certificates.ts';
import { readShardFolders } from '../../pkg/store/postgres/shard-folders.ts';
import { platformSettings, queueSettings } from '../../pkg/store/settings.ts';

const waits = () =>
  z
    .string()
    .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, 'must be seconds, comma-separated')
    .default(RETRY_SECONDS.join(','))
    .transform((text) => text.split(',').map(Number));

/** The settings of the worker, by the names of their environment variables. */
export const workerConfigSchema = z.object({
  CARREL_SHARDS_DIR: z.string().min(1).describe('a directory with one subdirectory per shard, each with a file worker-url'),
  ...platformSettings,
  ...queueSettings,
  CARREL_EGRESS_ALLOW: z
    .string()
    .default('')
    .refine((text) => isReadable(() => parseAllowedRanges(text)), 'must be address ranges, comma-separated')
    .transform((text) => parseAllowedRanges(text))
    .describe('private address ranges that webhooks, LMSs and storage of tenants may use, such as 127.0.0.0/8,::1/128'),
  ...trustedCertificatesFile,
  CARREL_WEBHOOK_RETRY_SECONDS: waits().describe(
    'delays between the attempts of a webhook delivery, in seconds, comma-separated',
  ),
  CARREL_WEBHOOK_TIMEOUT_SECONDS: wholeNumber(1, 60).default(15).describe('timeout of a webhook request in seconds, 1 to 60'),
  CARREL_GRADE_RETRY_SECONDS: waits().describe(
    'delays between the attempts to send a grade to an LMS, in seconds, comma-separated',
  ),
  CARREL_LISTEN_HOST: z.string().min(1).optional().describe('the address to listen on; default: all'),
  CARREL_OPS_PORT: wholeNumber(0, 65_535).default(9090).describe('a port for probes and metrics, 9090'),
  CARREL_DATABASE_POOL_SIZE: wholeNumber(2, 100)
    .default(20)
    .describe('the maximum number of connections to each shard, 2 to 100, besides 4 for leases'),
  CARREL_LOG_LEVEL: logLevel,
  ...traceSettings,
});

export type WorkerConfig = z.output<typeof workerConfigSchema>;

/** Returns the name and address of each shard, sorted by name: the first holds the registry. Throws ConfigError. */
export const readShardUrls = (dir: string): { name: string; url: string }[] =>
  readShardFolders(
    dir,
    ['workerUrl'],
    (what) =>
      new ConfigError(
        `worker: CARREL_SHARDS_DIR: ${what}. Give it a folder per shard with a file worker-url (docs/operate/settings.md).`,
      ),
  ).map(({ name, workerUrl }) => ({ name, url: workerUrl }));
