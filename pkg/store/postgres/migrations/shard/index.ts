import type { Migration } from '../migration.ts';
import { baseline } from './0001-baseline.ts';

/** In their order. */
export const shardMigrations: readonly Migration<object>[] = [baseline];
