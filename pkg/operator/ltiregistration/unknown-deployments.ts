import type { EventRecorder } from '../../kube/events.ts';
import { parseKey, type Observed } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import type { Sql, SqlPool } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { LTI_REGISTRATION, type LtiRegistration } from '../kinds.ts';
import { slugOf } from '../names.ts';
import type { News } from '../news.ts';
import type { TenantAccess } from '../tenant-rows.ts';
import { notedRows } from './noted-rows.ts';

export interface Deps {
  readonly registrations: Store<LtiRegistration>;
  readonly access: TenantAccess;
  readonly events: EventRecorder;
}

/** What a tenant noted of a registration. */
export interface Noted {
  readonly tenant: string;
  readonly reference: string;
}

interface Row extends Noted {
  readonly deploymentId: string;
  readonly isOld: boolean;
}

/**
 * Tells at an LtiRegistration, by an Event, of the deployments that launched and that it does not list (design: section 6).
 *
 * - Each is told once, and again only when its launches go on an hour later, whatever the tenant writes (pkg/lti/unknown-deployments.ts).
 * - What is old, listed by now or of a registration that is gone is deleted.
 */
export const unknownDeployments = (deps: Deps): News<Row> => ({
  isWanted: () => deps.registrations.size > 0,
  select: notedRows({ table: 'carrel.unknown_deployments', columns: 'deployment_id AS "deploymentId"', reportedAt: 'told_at' }),
  async hear(pool, rows) {
    const concerned = new Map<Row, Observed<LtiRegistration>>();
    for (const row of rows) {
      const registration = row.isOld ? undefined : registrationOf(deps, row);
      if (registration) concerned.set(row, registration);
    }
    const gone = rows.filter((row) => !concerned.has(row));
    // Marked first: an Event that is lost with a leader is less harm than one at every look.
    if (concerned.size > 0) await mark(pool, [...concerned.keys()]);
    if (gone.length > 0) await drop(pool, gone);
    for (const [row, registration] of concerned) {
      deps.events.record(registration, LTI_REGISTRATION, { type: 'Warning', reason: 'UnknownDeployment', message: messageOf(row) });
    }
  },
});

/** Whose row it is, unless the deployment is listed. */
function registrationOf(deps: Deps, row: Row): Observed<LtiRegistration> | undefined {
  const registration = ownRegistration(deps, row);
  return registration?.spec.deploymentIds?.includes(row.deploymentId) ? undefined : registration;
}

/** A tenant writes its own rows: that one names the registration of another says nothing. */
export function ownRegistration({ registrations, access }: Deps, row: Noted): Observed<LtiRegistration> | undefined {
  const registration = registrations.get(parseKey(row.reference));
  if (!registration) return undefined;
  const tenant = access.find(registration.metadata.namespace ?? '', registration.spec.tenantRef.name);
  return tenant && tenantRole(slugOf(tenant)) === row.tenant ? registration : undefined;
}

const messageOf = ({ deploymentId }: Row): string =>
  `launches were refused, since their deployment is not listed; to let it in, add to spec.deploymentIds: ${quoted(deploymentId)}`;

/** As a YAML string of printable characters: an LMS may call its deployments what it likes. */
export const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

const THESE = `unnest($1::name[], $2::text[], $3::text[]) AS n (tenant, managed_ref, deployment_id)
  WHERE u.tenant = n.tenant AND u.managed_ref = n.managed_ref AND u.deployment_id = n.deployment_id`;

const keysOf = (rows: readonly Row[]): string[][] => [
  rows.map(({ tenant }) => tenant),
  rows.map(({ reference }) => reference),
  rows.map(({ deploymentId }) => deploymentId),
];

const mark = (pool: SqlPool, rows: readonly Row[]): Promise<unknown> =>
  pool.query(`UPDATE carrel.unknown_deployments u SET told_at = now() FROM ${THESE}`, keysOf(rows));

const drop = (pool: SqlPool, rows: readonly Row[]): Promise<unknown> =>
  pool.query(`DELETE FROM carrel.unknown_deployments u USING ${THESE}`, keysOf(rows));

/** Forgets the deployments of a registration that it lists; `listed` left out: all of them, and its unknown values. */
export async function forgetUnknown(sql: Sql, slug: string, reference: string, listed?: readonly string[]): Promise<void> {
  await sql.query(
    `WITH removed AS (DELETE FROM carrel.unknown_values WHERE tenant = $1 AND managed_ref = $2 AND $3::text[] IS NULL)
     DELETE FROM carrel.unknown_deployments WHERE tenant = $1 AND managed_ref = $2 AND ($3::text[] IS NULL OR deployment_id = ANY ($3))`,
    [tenantRole(slug), reference, listed ?? null],
  );
}
