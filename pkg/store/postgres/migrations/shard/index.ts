import type { Migration } from '../migration.ts';
import { baseline } from './0001-baseline.ts';

/** In the order in which they run. */
export const shardMigrations: readonly Migration<object>[] = [baseline];
