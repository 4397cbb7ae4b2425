import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { everyYear } from '../../support/data/crons.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import type { TestPlatform } from '../../support/programs/worker-platform.ts';
import { waitFor } from '../../support/wait.ts';

/** Schedules of a tenant that come due when a test lets time pass for them. */
export function scheduleRuns(platform: TestPlatform, tenant: TestTenant) {
  const create = async (fields: object = {}): Promise<string> => {
    const yearly = { name: 'Yearly', kind: 'recount_usage', cron: everyYear() };
    return (await tenant.admin.post('/schedules', { ...yearly, ...fields })).body.id;
  };
  const shown = async (id: string) => (await tenant.admin.get(`/schedules/${id}`)).body;
  const runsOf = async (id: string) =>
    (await tenant.admin.get(`/schedules/${id}/runs`, { query: { sort: 'created_at' } })).body.data;
  /** Lets time pass for the schedule: its times move back, since Postgres' clock stays. */
  async function pass(id: string, ms: number): Promise<void> {
    await platform.pool.query(
      `WITH moved AS (
         UPDATE "${tenantRole(tenant.slug)}".schedules SET next_tick = next_tick - make_interval(secs => $2) WHERE uuid = $1
       ) UPDATE carrel.work SET due_at = due_at - make_interval(secs => $2)
       WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1::text`,
      [id, ms / 1000],
    );
  }
  /** Until its next run is due, and this much longer. */
  const passUntilDue = async (id: string, lateMs = 0): Promise<void> =>
    pass(id, Date.parse((await shown(id)).next_run_at) - Date.now() + lateMs + 50);
  const ended = (id: string) =>
    waitFor('the end of the job', async () => {
      const { body } = await tenant.admin.get(`/jobs/${id}`);
      return body.ended_at === null ? undefined : body;
    });
  /** The run that a schedule has done when it is due. */
  const nextRun = async (id: string, lateMs = 0) => {
    const before = (await runsOf(id)).length;
    await passUntilDue(id, lateMs);
    await waitFor('a run', async () => (await runsOf(id)).length > before);
    return ended((await runsOf(id)).at(-1).id);
  };

  return { create, shown, runsOf, pass, passUntilDue, ended, nextRun };
}
