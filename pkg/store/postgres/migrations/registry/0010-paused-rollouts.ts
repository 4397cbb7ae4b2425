import type { Migration } from '../migration.ts';

/** Since when no rollout of a new image begins; null: rollouts are not paused. */
export const pausedRollouts: Migration<object> = {
  name: '0010-paused-rollouts',
  loses: 'That rollouts are paused.',
  up: () => 'ALTER TABLE registry.installation ADD COLUMN rollouts_paused_at timestamptz(3)',
  down: () => 'ALTER TABLE registry.installation DROP COLUMN rollouts_paused_at',
};
