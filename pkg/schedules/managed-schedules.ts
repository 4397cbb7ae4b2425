/**
 * Schedules of a Tenant resource (`spec.schedules`): the operator's side of the table `schedules`. It uses a role that writes
 * every tenant's schema.
 */
import { isDeepStrictEqual } from 'node:util';
import { wordsOf } from '../api/validation.ts';
import type { Random } from '../runtime/random.ts';
import { insertJob } from '../store/postgres/job-store.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { inTenantSchema, type ShardAccess, tenantRole } from '../store/postgres/provisioning.ts';
import { MANAGED_BY } from '../store/postgres/tenant-schema.ts';
import { cronFault, timeZoneFault } from './cron.ts';
import { EXPIRE_EXPORTS } from '../content/exports/export-task.ts';
import { expireKept } from '../content/exports/kept-exports.ts';
import { keepOf, type ScheduleSettings, ScheduleWork } from './schedule-kinds.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { firstTick, runAt } from './tick.policy.ts';
import { nowOf } from './schedules.sql.ts';

/** An entry of `spec.schedules`. */
export interface SpecifiedSchedule {
  readonly name: string;
  readonly kind: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly active: boolean;
  readonly catchUp: boolean;
}

/** Returns what is wrong with an entry, as the field and the reason, or null if it is valid. */
export function faultOfSpecified({ kind, cron, timeZone, arguments: given = {} }: SpecifiedSchedule): string | null {
  const cronProblem = cronFault(cron);
  if (cronProblem !== null) return `cron: ${cronProblem}`;
  const zoneProblem = timeZoneFault(timeZone);
  if (zoneProblem !== null) return `timeZone: ${zoneProblem}`;
  const work = ScheduleWork.safeParse({ kind, arguments: given }, { error: wordsOf });
  const issue = work.error?.issues[0];
  if (!issue) return null;
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return `${[...issue.path, ...unknown].join('.')}: ${unknown.length > 0 ? 'is not a known field' : issue.message}`;
}

interface ManagedRow {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly kind: string;
  readonly arguments: object;
  readonly cron: string;
  readonly timeZone: string;
  readonly active: boolean;
  readonly catchUp: boolean;
  readonly savedBy: number | null;
}

const MANAGED = `
  SELECT id, uuid, managed_ref AS name, kind, arguments, cron, time_zone AS "timeZone", active, catch_up AS "catchUp",
    saved_by AS "savedBy"
  FROM schedules WHERE managed_by = $1`;

/** Finds the account that the operator made for this address. The account may have another address by now. */
const ADMINISTRATOR = 'SELECT id FROM users WHERE lower(provisioned_as) = lower($1) AND NOT is_system';

/** The desired rows of a tenant. */
export interface WantedSchedules {
  readonly schedules: readonly SpecifiedSchedule[];
  /** The administrator whom the schedules act as: the address for which the operator made the account. */
  readonly administrator: string;
  /** The settings of the tenant's server, for the runs of all its schedules. */
  readonly settings: ScheduleSettings;
}

/**
 * Writes the rows that differ, and deletes those that are no longer specified. Runs four statements if nothing differs. The
 * entries must be free of faults.
 */
export async function syncManagedSchedules(shard: ShardAccess, slug: string, wanted: WantedSchedules): Promise<void> {
  await inTenantSchema(shard, slug, async (tx) => {
    const names = wanted.schedules.map(({ name }) => name);
    const gone = await tx.query<{ uuid: string }>(
      'DELETE FROM schedules WHERE managed_by = $1 AND NOT managed_ref = ANY ($2) RETURNING uuid',
      [MANAGED_BY, names],
    );
    for (const { uuid } of gone) await pruneArchives(tx, slug, uuid, null);
    await tx.query('UPDATE schedules SET settings = $1::jsonb WHERE settings <> $1::jsonb', [JSON.stringify(wanted.settings)]);
    const present = new Map((await tx.query<ManagedRow>(MANAGED, [MANAGED_BY])).map((row) => [row.name, row]));
    const [administrator] = await tx.query<{ id: number }>(ADMINISTRATOR, [wanted.administrator]);
    for (const specified of wanted.schedules) {
      const row = present.get(specified.name);
      await write(tx, shard.random, slug, { row, specified, savedBy: administrator?.id ?? null, settings: wanted.settings });
    }
  });
}

interface Write {
  readonly row: ManagedRow | undefined;
  readonly specified: SpecifiedSchedule;
  readonly savedBy: number | null;
  readonly settings: ScheduleSettings;
}

async function write(tx: Sql, random: Random, slug: string, { row, specified, savedBy, settings }: Write): Promise<void> {
  const { name, cron, timeZone, active, catchUp } = specified;
  const work = ScheduleWork.parse({ kind: specified.kind, arguments: specified.arguments ?? {} });
  const { kind, arguments: given } = work;
  const definition = { name, kind, arguments: given, cron, timeZone, active, catchUp, savedBy };
  if (row && isDeepStrictEqual({ ...definition, id: row.id, uuid: row.uuid }, { ...row })) return;
  const uuid = row?.uuid ?? random.uuid();
  const isSame = row?.cron === cron && row.timeZone === timeZone && row.active === active;
  const nextTick = isSame ? null : await arm(tx, slug, uuid, specified);
  if (row) await pruneArchives(tx, slug, uuid, keepOf(work));
  const values = [uuid, name, kind, JSON.stringify(given), cron, timeZone, active, catchUp, savedBy];
  if (row)
    await tx.query(
      `UPDATE schedules SET name = $2, kind = $3, arguments = $4::jsonb, cron = $5, time_zone = $6, active = $7, catch_up = $8,
        saved_by = $9,
         next_tick = CASE WHEN $10 THEN next_tick ELSE $11::timestamptz END WHERE uuid = $1`,
      [...values, isSame, nextTick],
    );
  else
    await tx.query(
      `INSERT INTO schedules (uuid, name, kind, arguments, cron, time_zone, active, catch_up, saved_by, managed_by, managed_ref,
          settings, next_tick)
       VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $2, $11::jsonb, $12)`,
      [...values, MANAGED_BY, JSON.stringify(settings), nextTick],
    );
}

/** Inserts a job for the next run of the schedule. Returns its next tick, or null if it is not active. */
async function arm(tx: Sql, slug: string, schedule: string, specified: SpecifiedSchedule): Promise<Date | null> {
  if (!specified.active) return null;
  const tick = firstTick(specified, await nowOf(tx), slug);
  const { kind, queue } = TICK_SCHEDULE;
  await insertJob(tx, {
    kind,
    queue,
    payload: { schedule },
    dueAt: runAt(tick, slug),
    unlessSooner: true,
    tenant: tenantRole(slug),
  });
  return tick;
}

/** Expires the archives that a schedule no longer keeps; all of them if `keep` is null, when it makes no more archives. */
async function pruneArchives(tx: Sql, slug: string, schedule: string, keep: number | null): Promise<void> {
  const dueAt = await expireKept(tx, schedule, keep, await nowOf(tx));
  const { kind, queue } = EXPIRE_EXPORTS;
  if (dueAt !== null) await insertJob(tx, { kind, queue, payload: {}, dueAt, tenant: tenantRole(slug) });
}
