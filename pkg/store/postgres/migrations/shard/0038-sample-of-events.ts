import type { Migration } from '../migration.ts';

/** For 0039. By itself, since each index of a large table takes a while, during which its rows are not written. */
export const sampleOfEvents: Migration<object> = {
  name: '0038-sample-of-events',
  up: () => 'CREATE INDEX IF NOT EXISTS events_sample_idx ON carrel.events (tenant) WHERE id % 1000 = 0',
  down: () => 'DROP INDEX carrel.events_sample_idx',
};
