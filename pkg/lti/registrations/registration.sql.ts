import { isDeepStrictEqual } from 'node:util';
import { privateKeyAssociatedData } from '../private-key.ts';
import { UniqueViolation } from '../../store/postgres/errors.ts';
import { quoteIdentifier, type Sql } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { MANAGED_BY, type TenantRows, type TenantSchema } from '../../store/postgres/tenant-schema.ts';
import type { DeploymentPolicy } from './deployment-requests.sql.ts';
import {
  areDeploymentsAsWanted,
  deploymentColumns,
  inOrder,
  type StoredDeployments,
  writeDeployments,
} from './managed-deployments.sql.ts';
import { removeNotes } from './notes.sql.ts';
import { type Keys, rotationStep } from './rotation.policy.ts';
import type { ToolKey } from './tool-key.ts';
import { keysOf, publishedIds, replaceCurrent, type SpareKey, spareKeys, takeStep } from './tool-keys.sql.ts';

export interface PlatformRow {
  readonly issuer: string;
  readonly authEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksEndpoint: string;
  readonly platformName: string | null;
  readonly tokenAudience: string | null;
  readonly frameAncestors: readonly string[];
}

export interface ToolRow {
  readonly clientId: string;
  readonly consumerKey: string;
  readonly toolUrl: string;
  readonly scope: string;
  readonly deepLinkingResponseMode: 'Query' | 'FormPost';
  readonly deploymentPolicy: DeploymentPolicy;
  readonly isActive: boolean;
}

/** The desired rows of a registration in the tenant's schema. */
export interface Registration {
  readonly platform: PlatformRow;
  readonly tool: ToolRow;
  /** The deployments that it lists. */
  readonly deploymentIds: readonly string[];
  /** References of the registrations whose resources name this LMS, that is, its issuer and its key set. */
  readonly peers?: readonly string[];
}

interface Stored extends Pick<Registration, 'platform' | 'tool'> {
  readonly deployments: StoredDeployments;
  /** An inactive platform accepts no launch, whatever its registrations contain. */
  readonly isPlatformActive: boolean;
  readonly keys: Keys;
}

/** Another tool of the LMS, which no resource made, has the client id. */
export class ClientIdTaken extends Error {
  override readonly name = 'ClientIdTaken';
  constructor(clientId: string, options: { cause: unknown }) {
    super(`the tenant has another tool with clientId ${clientId} at this LMS`, options);
  }
}

/**
 * A registration names another key set for its issuer, but others of its LMS do not: an administrator has to say whether the LMS
 * has changed or this is another one.
 */
export class LmsIsShared extends Error {
  override readonly name = 'LmsIsShared';
  constructor(others: readonly string[]) {
    const names = others.map((reference) => reference.split('/').at(-1)).join(', ');
    super(
      `another jwksEndpoint would separate this registration from the people and courses of its LMS, which ${names} shares: ` +
        'change it there too or, if this is another LMS, delete this registration and create it again',
    );
  }
}

/** How a registration gets its keys. */
export interface KeySource {
  /** A key that a person supplied. */
  readonly given: ToolKey | undefined;
  readonly generate: () => Promise<ToolKey>;
  /** In ms; undefined: generated keys are not rotated. */
  readonly period: number | undefined;
  readonly now: Date;
}

/**
 * Ids of the published keys, the signing one first; the time of the next rotation step; and the deployments that administrators
 * have to decide on or have admitted.
 */
export interface Published extends Pick<StoredDeployments, 'waiting' | 'admitted'> {
  readonly keyIds: readonly string[];
  readonly dueAt: Date | undefined;
}

type Tables = Readonly<
  Record<
    | 'tools'
    | 'toolKeys'
    | 'platforms'
    | 'deployments'
    | 'requests'
    | 'identities'
    | 'links'
    | 'notices'
    | 'handlers'
    | 'registrationLinks',
    string
  >
>;

function tablesOf({ slug }: TenantSchema): Tables {
  const schema = quoteIdentifier(tenantRole(slug));
  return {
    tools: `${schema}.lti_tools`,
    toolKeys: `${schema}.lti_tool_keys`,
    platforms: `${schema}.lti_platforms`,
    deployments: `${schema}.lti_deployments`,
    requests: `${schema}.lti_deployment_requests`,
    identities: `${schema}.lti_identities`,
    links: `${schema}.lti_resource_links`,
    notices: `${schema}.lti_notices`,
    handlers: `${schema}.lti_notice_handlers`,
    registrationLinks: `${schema}.lti_registration_links`,
  };
}

/**
 * Writes the rows of a registration and takes the rotation step that is due. One statement if the rows are as desired and no step
 * is due. Without a given key the row keeps its key, or gets one from `generate`. Throws ClientIdTaken if a tool of another
 * origin has the client id, and LmsIsShared.
 */
export async function syncRegistration(
  rows: TenantRows,
  reference: string,
  wanted: Registration,
  source: KeySource,
): Promise<Published> {
  const present = await find(rows, reference);
  if (present && isAsWanted(present, wanted) && isAtRest(present.keys, source)) return published(present, source);
  const fresh = await freshKey(present?.keys, source);
  try {
    await rows.pool.transaction((tx) => write(tx, rows, reference, wanted, { present: present?.keys, fresh, source }));
  } catch (error) {
    if (!(error instanceof UniqueViolation) || error.constraint !== 'lti_tools_platform_id_client_id_key') throw error;
    throw new ClientIdTaken(wanted.tool.clientId, { cause: error });
  }
  const written = await find(rows, reference);
  return written ? published(written, source) : { keyIds: [], dueAt: source.now, waiting: [], admitted: [] };
}

const published = ({ keys, deployments: { waiting, admitted } }: Stored, source: KeySource): Published => ({
  keyIds: publishedIds(keys, source.now),
  dueAt: stepOf(keys, source).dueAt,
  waiting,
  admitted,
});

/** A key that a person supplied is theirs to rotate. */
const stepOf = (keys: Keys, { given, period, now }: KeySource) => rotationStep(keys, given ? undefined : period, now);

function isAtRest(keys: Keys, source: KeySource): boolean {
  const isSigner = keys.current !== undefined && (source.given === undefined || source.given.kid === keys.current.kid);
  return isSigner && stepOf(keys, source).action === 'stay' && keys.former.every(({ until }) => until > source.now);
}

/** Created outside the transaction, because it takes a tenth of a second of CPU. */
async function freshKey(keys: Keys | undefined, source: KeySource): Promise<ToolKey | undefined> {
  if (source.given) return undefined;
  return !keys?.current || stepOf(keys, source).action === 'publish' ? source.generate() : undefined;
}

/** Removes tool and deployments. The platform is deleted or set inactive if no other tool uses it. Idempotent. */
export async function removeRegistration(rows: TenantSchema, reference: string): Promise<void> {
  const tables = tablesOf(rows);
  await rows.pool.transaction(async (tx) => {
    const [tool] = await tx.query<{ platformId: number | null }>(
      `DELETE FROM ${tables.tools} WHERE managed_ref = $1 AND managed_by = $2 RETURNING platform_id AS "platformId"`,
      [reference, MANAGED_BY],
    );
    if (tool?.platformId != null) {
      await lockPlatforms(tx, tables, { id: tool.platformId });
      await dropUnused(tx, tables, tool.platformId);
    }
    await removeNotes(tx, rows.slug, reference);
  });
}

/** Removes the rows of all resources except these. */
export async function removeOtherRegistrations(schema: TenantSchema, references: readonly string[]): Promise<void> {
  const others = await schema.pool.query<{ reference: string }>(
    `SELECT managed_ref AS reference FROM ${tablesOf(schema).tools} WHERE managed_by = $1 AND NOT managed_ref = ANY ($2)`,
    [MANAGED_BY, references],
  );
  for (const { reference } of others) await removeRegistration(schema, reference);
}

const isAsWanted = (present: Stored, { platform, tool, deploymentIds }: Registration): boolean =>
  present.isPlatformActive &&
  isDeepStrictEqual({ platform: present.platform, tool: present.tool }, { platform, tool }) &&
  areDeploymentsAsWanted(present.deployments, { policy: tool.deploymentPolicy, listed: deploymentIds });

async function find(rows: TenantRows, reference: string): Promise<Stored | undefined> {
  const tables = tablesOf(rows);
  const { tools, platforms } = tables;
  const [row] = await rows.pool.query<
    PlatformRow &
      ToolRow &
      StoredDeployments & { isPlatformActive: boolean; keyId: string | null; keySince: Date; spare: SpareKey[] }
  >(
    `SELECT p.issuer, p.auth_endpoint AS "authEndpoint", p.token_endpoint AS "tokenEndpoint", p.jwks_endpoint AS "jwksEndpoint",
       p.platform_name AS "platformName", p.token_audience AS "tokenAudience", p.frame_ancestors AS "frameAncestors",
       p.is_active AS "isPlatformActive", t.client_id AS "clientId", t.consumer_key AS "consumerKey",
       t.tool_url AS "toolUrl", t.scope,
       t.deep_linking_response_mode AS "deepLinkingResponseMode", t.deployment_policy AS "deploymentPolicy",
       t.is_active AS "isActive", t.key_id AS "keyId", t.key_since AS "keySince",
       ${spareKeys(tables)} AS spare, ${deploymentColumns(tables)}
     FROM ${tools} t JOIN ${platforms} p ON p.id = t.platform_id WHERE t.managed_ref = $1`,
    [reference],
  );
  if (!row) return undefined;
  const { issuer, authEndpoint, tokenEndpoint, jwksEndpoint, platformName, tokenAudience, frameAncestors } = row;
  const { clientId, consumerKey, toolUrl, scope, deepLinkingResponseMode, deploymentPolicy, isActive, keyId, keySince, spare } =
    row;
  const { deploymentIds, listed, waiting, admitted, refused } = row;
  return {
    platform: { issuer, authEndpoint, tokenEndpoint, jwksEndpoint, platformName, tokenAudience, frameAncestors },
    tool: { clientId, consumerKey, toolUrl, scope, deepLinkingResponseMode, deploymentPolicy, isActive },
    deployments: { deploymentIds, listed, waiting, admitted, refused },
    isPlatformActive: row.isPlatformActive,
    keys: keysOf(keyId === null ? undefined : { kid: keyId, since: keySince }, spare),
  };
}

async function write(
  tx: Sql,
  rows: TenantRows,
  reference: string,
  { platform, tool, deploymentIds, peers = [] }: Registration,
  { present, fresh, source }: { present: Keys | undefined; fresh: ToolKey | undefined; source: KeySource },
): Promise<void> {
  const tables = tablesOf(rows);
  const { now } = source;
  const [former] = await tx.query<{ platformId: number | null; clientId: string }>(
    `SELECT platform_id AS "platformId", client_id AS "clientId" FROM ${tables.tools} WHERE managed_ref = $1 FOR UPDATE`,
    [reference],
  );
  await lockPlatforms(tx, tables, { id: former?.platformId, issuer: platform.issuer });
  const together = [reference, ...peers];
  const platformId = await writePlatform(tx, tables, platform, { formerId: former?.platformId ?? null, peers: together });
  const seal = (privateKey: string): string => rows.sealer.seal(privateKey, privateKeyAssociatedData(rows.tenantId, reference));
  const isGivenNew = source.given !== undefined && source.given.kid !== present?.current?.kid;
  /** The key that signs from now on; undefined: the current one continues to sign. */
  const key = isGivenNew ? source.given : present?.current ? undefined : fresh;
  if (key) await replaceCurrent(tx, tables, reference, key.kid, now);
  const [written] = await tx.query<{ id: number }>(
    `INSERT INTO ${tables.tools} AS t (client_id, consumer_key, tool_url, scope, deep_linking_response_mode, is_active,
       platform_id,
       public_key, private_key, key_id, key_since, managed_by, managed_ref, deployment_policy,
       listed_deployments)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     ON CONFLICT (managed_ref) DO UPDATE SET client_id = excluded.client_id, consumer_key = excluded.consumer_key,
       tool_url = excluded.tool_url,
       scope = excluded.scope, deep_linking_response_mode = excluded.deep_linking_response_mode,
       deployment_policy = excluded.deployment_policy,
       listed_deployments = excluded.listed_deployments, is_active = excluded.is_active,
       platform_id = excluded.platform_id, public_key = coalesce(excluded.public_key, t.public_key),
       private_key = coalesce(excluded.private_key, t.private_key), key_id = coalesce(excluded.key_id, t.key_id),
       key_since = CASE WHEN excluded.key_id IS NULL THEN t.key_since ELSE excluded.key_since END
     RETURNING t.id`,
    [
      tool.clientId,
      tool.consumerKey,
      tool.toolUrl,
      tool.scope,
      tool.deepLinkingResponseMode,
      tool.isActive,
      platformId,
      key?.publicKey ?? null,
      key ? seal(key.privateKey) : null,
      key?.kid ?? null,
      now,
      MANAGED_BY,
      reference,
      tool.deploymentPolicy,
      inOrder(deploymentIds),
    ],
  );
  if (present?.current) await takeStep(tx, tables, reference, stepOf(present, source), { keys: present, fresh, seal, now });
  const toolId = written?.id ?? 0;
  const isAnother = former !== undefined && (former.platformId !== platformId || former.clientId !== tool.clientId);
  if (isAnother) await deleteRecords(tx, tables, toolId);
  await writeDeployments(tx, tables, { toolId, platformId }, { policy: tool.deploymentPolicy, listed: deploymentIds });
  await removeNotes(tx, rows.slug, reference, isAnother ? undefined : deploymentIds);
  if (former?.platformId != null && former.platformId !== platformId) await dropUnused(tx, tables, former.platformId);
}

/**
 * Registrations of one issuer change one after the other: a statement after this one sees what the previous transaction
 * committed. Locks in the order of the ids, so that two registrations that swap platforms do not wait for each other.
 */
const lockPlatforms = (
  tx: Sql,
  { platforms }: Tables,
  of: { id?: number | null | undefined; issuer?: string },
): Promise<unknown> =>
  tx.query(`SELECT FROM ${platforms} WHERE id = $1 OR issuer = $2 ORDER BY id FOR NO KEY UPDATE`, [
    of.id ?? null,
    of.issuer ?? null,
  ]);

/**
 * Finds an LMS by issuer and key set. If none matches but the registration's own LMS has the issuer, that LMS now publishes its
 * keys elsewhere: its people and courses stay. Throws LmsIsShared.
 */
async function writePlatform(
  tx: Sql,
  tables: Tables,
  platform: PlatformRow,
  { formerId, peers }: { readonly formerId: number | null; readonly peers: readonly string[] },
): Promise<number> {
  const { platforms, tools, registrationLinks } = tables;
  const { issuer, jwksEndpoint } = platform;
  const [moved] = await tx.query<{ from: string; others: string[] }>(
    `SELECT p.jwks_endpoint AS from, ARRAY(
       SELECT coalesce(t.managed_ref, t.client_id)::text FROM ${tools} t WHERE t.platform_id = p.id
         AND coalesce(NOT t.managed_ref = ANY ($4), true)
       ORDER BY t.id) AS others
     FROM ${platforms} p WHERE p.id = $1 AND p.issuer = $2 AND p.jwks_endpoint <> $3`,
    [formerId, issuer, jwksEndpoint, peers],
  );
  if (moved && moved.others.length > 0) throw new LmsIsShared(moved.others);
  const values = [
    issuer,
    platform.authEndpoint,
    platform.tokenEndpoint,
    jwksEndpoint,
    platform.platformName,
    platform.tokenAudience,
    platform.frameAncestors,
  ];
  if (moved) {
    const [kept] = await tx.query<{ id: number }>(
      `UPDATE ${platforms} SET auth_endpoint = $2, token_endpoint = $3, jwks_endpoint = $4, platform_name = $5,
         token_audience = $6,
         frame_ancestors = $7, is_active = true
       WHERE id = $8 AND NOT EXISTS (SELECT FROM ${platforms} WHERE issuer = $1 AND jwks_endpoint = $4) RETURNING id`,
      [...values, formerId],
    );
    if (kept) {
      await tx.query(`UPDATE ${registrationLinks} SET jwks_endpoint = $3 WHERE issuer = $1 AND jwks_endpoint = $2`, [
        issuer,
        moved.from,
        jwksEndpoint,
      ]);
      return kept.id;
    }
  }
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO ${platforms} (issuer, auth_endpoint, token_endpoint, jwks_endpoint, platform_name, token_audience,
       frame_ancestors)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (issuer, md5(jwks_endpoint)) DO UPDATE SET auth_endpoint = excluded.auth_endpoint,
       token_endpoint = excluded.token_endpoint,
       platform_name = excluded.platform_name, token_audience = excluded.token_audience,
       frame_ancestors = excluded.frame_ancestors, is_active = true
     RETURNING id`,
    values,
  );
  return row?.id ?? 0;
}

/**
 * Deletes records of placed links, notices and unlisted deployments: they are valid only for the issuer and client id that they
 * were verified for. The next launch of each link verifies and records it again.
 */
async function deleteRecords(tx: Sql, { links, notices, handlers, requests }: Tables, toolId: number): Promise<void> {
  for (const table of [links, notices, handlers, requests]) await tx.query(`DELETE FROM ${table} WHERE tool_id = $1`, [toolId]);
}

/**
 * Identities outlive the registration, so that people find their files when it is registered again; a platform without identities
 * is deleted. The platform is locked, so meanwhile no other registration can start or stop using it.
 */
async function dropUnused(tx: Sql, { tools, platforms, identities }: Tables, platformId: number): Promise<void> {
  const unused = `id = $1 AND NOT EXISTS (SELECT FROM ${tools} t WHERE t.platform_id = p.id)`;
  await tx.query(
    `DELETE FROM ${platforms} p WHERE ${unused} AND NOT EXISTS (SELECT FROM ${identities} i WHERE i.platform_id = p.id)`,
    [platformId],
  );
  await tx.query(`UPDATE ${platforms} p SET is_active = false WHERE ${unused}`, [platformId]);
}
