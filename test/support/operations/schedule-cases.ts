import { administrators, byAdmin, of, type Cases, type Make } from './case.ts';

const NIGHTLY = { name: 'Nightly', kind: 'recount_usage', cron: '0 3 * * *' };
const WRONG_VALUE = {
  kind: 'batch',
  arguments: { operation: 'set_metadata', filter: {}, arguments: { key: 'year', value: 'MMXXVI', value_type: 'number' } },
};
const managed =
  (body?: unknown): Make =>
  async (w) =>
    byAdmin(w, { ...of(await w.managedSchedule()), body });
const changes = administrators(async (w) => ({ ...of(await w.schedule()), body: NIGHTLY }), {
  managed: managed(NIGHTLY),
  value_type_mismatch: async (w) => byAdmin(w, { ...of(await w.schedule()), body: WRONG_VALUE }),
});

/** Schedules and their runs. */
export const SCHEDULE_CASES: Readonly<Record<string, Cases>> = {
  listSchedules: administrators(() => ({})),
  createSchedule: administrators(() => ({ body: NIGHTLY }), {
    value_type_mismatch: (w) => byAdmin(w, { body: { ...NIGHTLY, ...WRONG_VALUE } }),
    conflict: async (w) => {
      for (let status = 201; status === 201;) ({ status } = await w.tenant.admin.post('/schedules', NIGHTLY));
      return byAdmin(w, { body: NIGHTLY });
    },
  }),
  listScheduleTimes: administrators(() => ({ query: { cron: '0 3 * * *' } })),
  getSchedule: administrators(async (w) => of(await w.schedule())),
  putSchedule: changes,
  updateSchedule: changes,
  deleteSchedule: administrators(async (w) => of(await w.schedule()), { managed: managed() }),
  runSchedule: administrators(async (w) => of(await w.schedule()), {
    conflict: async (w) => {
      const request = of(await w.schedule());
      await w.tenant.admin.post(`/schedules/${request.params?.['id']}/run`);
      return byAdmin(w, request);
    },
  }),
  listScheduleRuns: administrators(async (w) => of(await w.schedule())),
};
