import type { TenantMigration } from './migration.ts';

/**
 * A grade that was given for a line item, not for a launch, names it. It also names a launch of the course, by whose registration
 * workers send it, those of an older release too.
 */
export const scoresOfLineItems: TenantMigration = {
  name: '0202-scores-of-line-items',
  loses: 'Which grades were given for a line item; they are grades of a launch of its course then.',
  up: () => `
      ALTER TABLE lti_grades ADD COLUMN line_item_id uuid;
    `,
  down: () => `
      ALTER TABLE lti_grades DROP COLUMN line_item_id;
    `,
};
