import { isDeepStrictEqual } from 'node:util';
import { EXPIRE_EXPORTS } from '../../pkg/content/exports/export-task.ts';
import { CHECK_INTEGRITY } from '../../pkg/content/upkeep/integrity.jobs.ts';
import { EXPIRE_UPLOADS } from '../../pkg/content/uploads/partial/partial-uploads.jobs.ts';
import { EMPTY_TRASH } from '../../pkg/content/trash/trash.jobs.ts';
import { EXPIRE_VERSIONS } from '../../pkg/content/model/files/versions.jobs.ts';
import { TICK_SCHEDULE } from '../../pkg/schedules/schedules.jobs.ts';
import { EXPIRE_TASK } from '../../pkg/tasks/task-kind.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { invariantFaults } from '../support/models/invariants.ts';
import type { ArrivedEvent, Arrivals } from './arrivals.ts';
import type { AwaitedEvent } from './change-log.ts';

/**
 * Kinds of jobs that are left until they are due one day: for the trash, old versions, the next check, exports, archives of
 * imports, jobs of people, schedules.
 */
export const LATER_KINDS: readonly string[] = [
  EMPTY_TRASH.kind,
  EXPIRE_VERSIONS.kind,
  CHECK_INTEGRITY.kind,
  EXPIRE_EXPORTS.kind,
  EXPIRE_UPLOADS.kind,
  EXPIRE_TASK.kind,
  TICK_SCHEDULE.kind,
];

/**
 * Returns a sentence for each fault that is left once everything is quiet. Without faults:
 *
 * - the event of every acknowledged change has arrived, with the right name and data;
 * - every event that was written has arrived with the bytes that were written, and nothing else has;
 * - rows and events tell the same story: each file, version, deletion and person has its one event, acknowledged or not;
 * - no delivery is left, and no work but that which empties the trash and deletes old versions one day, and rows, quotas and
 *   objects fit together.
 */
export async function inconsistencies(
  tenant: TestTenant,
  acknowledged: readonly AwaitedEvent[],
  arrivals: Arrivals,
): Promise<string[]> {
  const arrived = [...arrivals.taken.values()];
  return [
    ...arrivals.faults,
    ...missing(acknowledged, arrived),
    ...(await outboxFaults(tenant, arrivals)),
    ...(await storyFaults(tenant, arrived)),
    ...(await leftovers(tenant)),
    ...(await invariantFaults(tenant.db, tenant.objects)),
  ];
}

function missing(acknowledged: readonly AwaitedEvent[], arrived: readonly ArrivedEvent[]): string[] {
  const bySubject = Map.groupBy(arrived, ({ event, data }) => `${event} ${String(data.id)}`);
  const fits = (awaited: AwaitedEvent, { data }: ArrivedEvent): boolean =>
    Object.entries(awaited.data).every(([field, value]) => isDeepStrictEqual(data[field], value)) &&
    (awaited.lists === undefined || (data.changes as string[]).includes(awaited.lists));
  return acknowledged
    .filter((awaited) => !bySubject.get(`${awaited.event} ${String(awaited.data.id)}`)?.some((event) => fits(awaited, event)))
    .map(({ event, data }) => `acknowledged, and never delivered: ${event} ${JSON.stringify(data)}`);
}

async function outboxFaults({ db }: TestTenant, { taken }: Arrivals): Promise<string[]> {
  const written = await db.query<{ uuid: string; payload: string }>('SELECT uuid, payload FROM carrel.events');
  const known = new Set(written.map(({ uuid }) => uuid));
  return [
    ...written
      .filter(({ uuid, payload }) => taken.get(uuid)?.body !== payload)
      .map(({ uuid }) => `event ${uuid} did not arrive as written`),
    ...[...taken.keys()].filter((id) => !known.has(id)).map((id) => `event ${id} arrived and was never written`),
  ];
}

interface FileRow {
  id: string;
  name: string;
  versions: number;
  isTrashed: boolean;
}

/**
 * Every change of these tests is one event, so rows and events must agree one by one: what was deleted and restored has an event
 * of each.
 */
async function storyFaults({ db }: TestTenant, arrived: readonly ArrivedEvent[]): Promise<string[]> {
  const faults: string[] = [];
  const byId = Map.groupBy(arrived, ({ data }) => String(data.id));
  const count = (id: string, wanted: number, what: string, fits: (event: ArrivedEvent) => boolean): void => {
    const found = (byId.get(id) ?? []).filter(fits).length;
    if (found !== wanted) faults.push(`${id} has ${found} events that it ${what}, not ${wanted}`);
  };
  const files = await db.query<FileRow>(
    `SELECT uuid AS id, name, version_number AS versions, deleted_at IS NOT NULL AS "isTrashed" FROM files`,
  );
  for (const { id, name, versions, isTrashed } of files) {
    count(id, 1, 'was created', ({ event }) => event === 'file.created');
    count(id, versions - 1, 'has a new version', ({ event, data }) => event === 'file.updated' && lists(data, 'content'));
    const restored = (byId.get(id) ?? []).filter((event) => isRestored(event)).length;
    count(id, restored + (isTrashed ? 1 : 0), 'was deleted', ({ event }) => event === 'file.deleted');
    const named = byId.get(id)?.some(({ event, data }) => event !== 'file.deleted' && data.name === name);
    if (!named) faults.push(`${id} is called ${name}, and no event says so`);
  }
  const existing = new Set(files.map(({ id }) => id));
  for (const [id, events] of byId) {
    if (!events.some(({ event }) => event.startsWith('file.')) || existing.has(id)) continue;
    // From the trash it goes for ever without an event.
    count(id, 1 + events.filter((event) => isRestored(event)).length, 'was deleted', ({ event }) => event === 'file.deleted');
  }
  const users = await db.query<{ id: string; name: string }>(
    `SELECT uuid AS id, display_name AS name FROM users WHERE username LIKE 'client-%'`,
  );
  for (const { id, name } of users) {
    count(id, 1, 'was created', ({ event }) => event === 'user.created');
    if (!byId.get(id)?.some(({ data }) => data.display_name === name))
      faults.push(`${id} is called ${name}, and no event says so`);
  }
  return faults;
}

const isRestored = ({ event, data }: ArrivedEvent): boolean => event === 'file.updated' && lists(data, 'restored');
const lists = (data: ArrivedEvent['data'], change: string): boolean => (data.changes as string[]).includes(change);

async function leftovers({ db }: TestTenant): Promise<string[]> {
  const rows = await db.query<{ fault: string }>(
    `SELECT format('delivery %s is %s: %s', uuid, state, log) AS fault FROM carrel.deliveries WHERE state <> 'delivered'
     UNION ALL SELECT format('work %s is left: %s', kind, last_error) FROM carrel.work WHERE kind <> ALL ($1)`,
    [LATER_KINDS],
  );
  return rows.map(({ fault }) => fault);
}
