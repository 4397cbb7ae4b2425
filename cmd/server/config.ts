import { z } from 'zod';
import { RATE_LIMITS } from '../../pkg/http/rate-limits.ts';
import { parseAllowedRanges } from '../../pkg/net/private-address.ts';
import { isReadable, logLevel, wholeNumber } from '../../pkg/runtime/config.ts';
import { traceSettings } from '../../pkg/runtime/trace-settings.ts';
import { trustedCertificates } from '../../pkg/runtime/trusted-certificates.ts';
import { tenantSettings } from '../../pkg/store/settings.ts';

const BYTES_MAX = Number.MAX_SAFE_INTEGER;
const address = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const bytes = () =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number of bytes')
    .transform(Number)
    .refine((value) => value <= BYTES_MAX, 'must be at most 2^53-1');

const rateLimit = (limit: { readonly default: number; readonly max: number }) => wholeNumber(1, limit.max).default(limit.default);

/**
 * The settings of a tenant's server, by the names of their environment variables. The operator writes all except
 * CARREL_LISTEN_HOST.
 */
export const serverConfigSchema = z.object({
  CARREL_TENANT_SLUG: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,38}[a-z0-9]$/, 'must be a slug: 2 to 40 of a-z, 0-9 and -, beginning with a letter')
    .describe("the tenant's slug"),
  CARREL_TENANT_ID: z
    .string()
    .regex(/^\d{1,20}$/, 'must be a number')
    .describe("the tenant's numeric id"),
  CARREL_TENANT_NAME: z
    .string()
    .max(255)
    .optional()
    .describe('the name that people see on pages, such as Biology; default: none'),
  CARREL_TENANT_RESOURCE: z
    .string()
    .regex(/^[^/]+\/[^/]+$/, 'must be namespace/name')
    .optional()
    .describe('the Tenant resource, namespace/name, which pages show in a line for kubectl; default: none'),
  CARREL_APP_URL: address.describe('the address that clients use, https://files.example.org'),
  CARREL_LTI_URL: address.optional().describe('the address of the LTI service, https://lti.files.example.org'),
  CARREL_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).describe('postgres://user:password@host:5432/database'),
  CARREL_DATABASE_NEXT_PASSWORD: z
    .string()
    .min(1)
    .optional()
    .describe('the password to log in with if Postgres refuses that of CARREL_DATABASE_URL, while it is rotated'),
  CARREL_DATABASE_POOL_SIZE: wholeNumber(1, 100).default(5).describe('the maximum number of connections to Postgres, 1 to 100'),
  ...tenantSettings,
  CARREL_S3_ENDPOINT: address.describe('the address of the S3 store, http://s3.example.org:9000'),
  CARREL_S3_REGION: z.string().min(1).default('us-east-1').describe('the region of the S3 store'),
  CARREL_S3_BUCKET: z.string().min(3).max(63).describe("the tenant's bucket"),
  CARREL_S3_PREFIX: z.string().max(200).optional().describe('the prefix of every key in the bucket'),
  CARREL_S3_GUARDED: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true if the tenant named the S3 endpoint: only public addresses by https, and CARREL_EGRESS_ALLOW'),
  CARREL_S3_ACCESS_KEY_ID: z.string().min(1).describe("the id of the tenant's S3 key"),
  CARREL_S3_SECRET_ACCESS_KEY: z.string().min(1).describe("the tenant's S3 key"),
  CARREL_SIGNING_KEYS: z.string().min(1).describe('{"keys":[private P-256 JWK, …]}'),
  CARREL_EGRESS_ALLOW: z
    .string()
    .refine((text) => isReadable(() => parseAllowedRanges(text)), 'must be address ranges such as 127.0.0.0/8')
    .transform(parseAllowedRanges)
    .default([])
    .describe('private address ranges that webhooks, LMSs and storage of the tenant may use, such as 127.0.0.0/8,::1/128'),
  ...trustedCertificates,
  CARREL_LISTEN_HOST: z.string().min(1).optional().describe('the address to listen on; default: all'),
  CARREL_PORT: wholeNumber(0, 65_535).default(8080).describe('a port, 8080'),
  CARREL_OPS_PORT: wholeNumber(0, 65_535).default(9090).describe('a port for probes and metrics, 9090'),
  CARREL_LIMIT_USER_PER_MINUTE: rateLimit(RATE_LIMITS.userPerMinute).describe('requests per user and minute, 100'),
  CARREL_LIMIT_TENANT_PER_MINUTE: rateLimit(RATE_LIMITS.tenantPerMinute).describe('requests a minute, 1000'),
  CARREL_LIMIT_IP_PER_HOUR: rateLimit(RATE_LIMITS.addressPerHour).describe('requests per address and hour, 10000'),
  CARREL_LIMIT_DATABASE_BYTES: bytes()
    .optional()
    .describe('bytes that the tables may take, which pages show; the operator holds the limit; default: none is shown'),
  CARREL_DEFAULT_USER_QUOTA_BYTES: bytes().optional().describe('bytes that a new user may store, 10737418240'),
  CARREL_MAX_UPLOAD_BYTES: bytes().optional().describe('the largest file in bytes'),
  CARREL_TRASH_RETENTION_SECONDS: wholeNumber(3_600, 99_999 * 86_400)
    .default(30 * 86_400)
    .describe('seconds that deleted content stays in the trash, 2592000'),
  CARREL_VERSIONS_KEEP: wholeNumber(1, 10_000)
    .default(50)
    .describe('versions of a file that are kept, including the current one, 50'),
  CARREL_VERSIONS_DAYS: wholeNumber(1, 36_500)
    .optional()
    .describe('days that a version is kept after it was replaced; default: forever'),
  CARREL_TRUSTED_PROXIES: wholeNumber(0, 10).default(0).describe('the number of proxies in front, 0 to 10'),
  CARREL_LOG_LEVEL: logLevel,
  ...traceSettings,
});
export type ServerConfig = z.output<typeof serverConfigSchema>;
