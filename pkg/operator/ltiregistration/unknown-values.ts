import type { Observed } from '../../kube/object.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { LTI_REGISTRATION, type LtiRegistration } from '../kinds.ts';
import type { News } from '../news.ts';
import { notedRows } from './noted-rows.ts';
import { type Deps, type Noted, ownRegistration, quoted } from './unknown-deployments.ts';

interface Row extends Noted {
  readonly field: 'iss' | 'client_id';
  readonly value: string;
  readonly isOld: boolean;
}

const FIELDS = {
  iss: {
    reason: 'UnknownIssuer',
    what: 'its issuer (iss)',
    path: 'spec.platform.issuer',
    registered: ({ spec }: LtiRegistration): string | undefined => spec.platform.issuer,
  },
  client_id: {
    reason: 'UnknownClientId',
    what: 'the client id',
    path: 'spec.clientId',
    registered: ({ spec }: LtiRegistration): string | undefined => spec.clientId,
  },
} as const;

/**
 * Events at an LtiRegistration for the issuers and client ids that an LMS sent in the place of the registered ones (pkg/lti/unknown-values.ts).
 *
 * - Each gives one Event, and another only when it comes again an hour later, whatever the tenant writes.
 * - What is old, registered by now or of a registration that is gone is deleted.
 */
export const unknownValues = (deps: Deps): News<Row> => ({
  isWanted: () => deps.registrations.size > 0,
  select: notedRows({ table: 'carrel.unknown_values', columns: 'field, value', reportedAt: 'reported_at' }),
  async hear(pool, rows) {
    const concerned = new Map<Row, Observed<LtiRegistration>>();
    for (const row of rows) {
      const registration = row.isOld ? undefined : ownRegistration(deps, row);
      if (registration && FIELDS[row.field].registered(registration) !== row.value) concerned.set(row, registration);
    }
    const gone = rows.filter((row) => !concerned.has(row));
    // Marked first: an Event that is lost with a leader is less harm than one at every look.
    if (concerned.size > 0) await mark(pool, [...concerned.keys()]);
    if (gone.length > 0) await drop(pool, gone);
    for (const [row, registration] of concerned) {
      const { reason } = FIELDS[row.field];
      deps.events.record(registration, LTI_REGISTRATION, { type: 'Warning', reason, message: messageOf(row, registration) });
    }
  },
});

function messageOf({ field, value }: Row, registration: LtiRegistration): string {
  const { what, path, registered } = FIELDS[field];
  return `launches were refused: the LMS sent as ${what} ${quoted(value)}; ${path} is ${quoted(registered(registration) ?? '')}. They must be equal to the letter: correct one of them`;
}

const THESE = `unnest($1::name[], $2::text[], $3::text[], $4::text[]) AS n (tenant, managed_ref, field, value)
  WHERE u.tenant = n.tenant AND u.managed_ref = n.managed_ref AND u.field = n.field AND u.value = n.value`;

const keysOf = (rows: readonly Row[]): string[][] => [
  rows.map(({ tenant }) => tenant),
  rows.map(({ reference }) => reference),
  rows.map(({ field }) => field),
  rows.map(({ value }) => value),
];

const mark = (pool: SqlPool, rows: readonly Row[]): Promise<unknown> =>
  pool.query(`UPDATE carrel.unknown_values u SET reported_at = now() FROM ${THESE}`, keysOf(rows));

const drop = (pool: SqlPool, rows: readonly Row[]): Promise<unknown> =>
  pool.query(`DELETE FROM carrel.unknown_values u USING ${THESE}`, keysOf(rows));
