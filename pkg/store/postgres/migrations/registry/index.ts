import type { Migration } from '../migration.ts';
import { baseline } from './0001-baseline.ts';

/** In their order. */
export const registryMigrations: readonly Migration<object>[] = [baseline];
