import type { TenantMigration } from './migration.ts';

/** A deep linking request is answered once: the launch's row says when. */
export const answersToPickers: TenantMigration = {
  name: '0207-answers-to-pickers',
  loses: 'Which requests for content were answered; each could be answered once more, within its hour.',
  up: () => `
      ALTER TABLE lti_launches ADD COLUMN answered_at timestamptz(3);
    `,
  down: () => `
      ALTER TABLE lti_launches DROP COLUMN answered_at;
    `,
};
