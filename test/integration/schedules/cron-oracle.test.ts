import { expect, test } from '@jest/globals';
import { Cron } from '../../../pkg/schedules/cron.ts';
import { type Change, changesOf, Expressions, walk } from '../../support/models/walked-clock.ts';

const EXPRESSIONS = [
  // Each field in each of its forms.
  '0 0 * * *',
  '30 2 * * *',
  '15 1 * * *',
  '59 23 * * *',
  '0 12 * * *',
  '0 3 1 * *',
  '0 3 31 * *',
  '0 0 29 2 *',
  '0 0 1 1 *',
  '30 0 1 jan,jul *',
  '0 4 * * sun',
  '0 4 * * 7',
  '0 4 * * 0',
  '0 4 * * mon-fri',
  '0 4 * * 6-7',
  '0 4 * * sat,sun',
  '0 4 * * */2',
  '0 4 */2 * *',
  '0 4 1-7 * *',
  '0 4 10-20/5 * *',
  '0 4 * */3 *',
  '0 4 * 2-11/3 *',
  '45 0,1,2,3 * * *',
  '0,30 1-3 * * *',
  '0 */6 * * *',
  '0 22-23 * * *',
  '10-50/20 2 * * *',
  '5,10,15-17 3 * * *',
  // Both days: either matches.
  '0 0 13 * fri',
  '30 2 1 * mon',
  '0 1 */10 * tue-thu',
  '0 2 25-31 3,10 sun',
  '0 0 * 3,4,9,10,11 sat,sun',
  '0 3 1 */2 */3',
  // Often.
  '0 * * * *',
  '30 * * * *',
  '*/15 * * * *',
  '*/7 1-4 * * *',
  '1-59/2 2 * * *',
  '* 0-3 * * *',
] as const;

const OFTEN_FROM = EXPRESSIONS.indexOf('0 * * * *');
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const [FROM, TO] = [Date.UTC(2024, 0, 1), Date.UTC(2031, 0, 1)];
/**
 * `make faults` compares all days of 2024 to 2030, those that run often in two zones and elsewhere around each change; `make
 * test` the days around each change of a clock in a year, and those at the ends of months.
 */
const IS_WHOLE = process.env['CRON_DAYS'] === 'all';
const SAMPLED_YEAR = 2026;

/** Zones by their changes: most share theirs with others. */
const ZONES = Map.groupBy([...Intl.supportedValuesOf('timeZone'), 'UTC'], (zone) =>
  changesOf(zone, FROM - 2 * DAY_MS, TO)
    .map(({ at, offset }) => `${at} ${offset}`)
    .join(),
);

/** Zones in which those that run often are compared on all days: a clock that never changes, and one that does. */
const OFTEN_IN: readonly string[] = ['UTC', 'Europe/Berlin'];

/** Times at which expressions are compared. `often`: also those that run often. */
function* spans(
  zones: readonly string[],
  changes: readonly Change[],
): Generator<{ readonly from: number; readonly to: number; readonly often: boolean }> {
  if (IS_WHOLE) yield { from: FROM, to: TO, often: OFTEN_IN.some((zone) => zones.includes(zone)) };
  for (const { at } of changes.slice(1))
    if (IS_WHOLE || new Date(at).getUTCFullYear() === SAMPLED_YEAR)
      yield { from: at - 30 * HOUR_MS, to: at + 30 * HOUR_MS, often: true };
  for (const day of [Date.UTC(2026, 11, 31), Date.UTC(2028, 1, 28)]) yield { from: day, to: day + 3 * DAY_MS, often: false };
}

test('the expressions are 40, and each zone is compared', () => {
  expect([EXPRESSIONS.length, [...ZONES.values()].flat().length > 400, ZONES.size > 60]).toEqual([40, true, true]);
});

test('every zone runs each expression when a clock that is walked shows its time for the first time', () => {
  const expressions = new Expressions(EXPRESSIONS, FROM - 3 * DAY_MS, TO + 3 * DAY_MS);
  const differences: string[] = [];
  let compared = 0;
  for (const zones of ZONES.values()) {
    const zone = zones[0] as string;
    const changes = changesOf(zone, FROM - 2 * DAY_MS, TO);
    for (const { from, to, often } of spans(zones, changes)) {
      const walked = walk(expressions, changes, from, to);
      for (const [index, expression] of EXPRESSIONS.slice(0, often ? undefined : OFTEN_FROM).entries()) {
        const times = [...timesOf(new Cron(expression, zone), from, to)];
        compared += times.length;
        if (times.join() === walked[index]?.join()) continue;
        differences.push(`${expression} in ${zones.join(', ')}: ${firstDifference(times, walked[index] ?? [])}`);
      }
    }
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(50_000);
});

function* timesOf(cron: Cron, from: number, to: number): Generator<number> {
  for (let next = cron.nextAfter(new Date(from - 1)); next.getTime() < to; next = cron.nextAfter(next)) yield next.getTime();
}

function firstDifference(ours: readonly number[], walked: readonly number[]): string {
  const at = ours.findIndex((time, index) => time !== walked[index]);
  const index = at === -1 ? ours.length : at;
  const shown = (time: number | undefined): string => (time === undefined ? 'nothing' : new Date(time).toISOString());
  return `ours ${shown(ours[index])}, walked ${shown(walked[index])}`;
}
