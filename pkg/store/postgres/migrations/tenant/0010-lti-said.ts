import type { TenantMigration } from './migration.ts';

/**
 * `name_said`, `email_said`, `title_said`: what the LMS sent last for a user or a course, so that a change at the LMS is
 * distinguished from a change here.
 * `email_given`: the address that the launch gave to the account, which may differ from the one that was sent. For users who
 * launched before this migration only addresses of lti.invalid are known to be ours; courses could not be renamed here until now.
 */
export const ltiSaid: TenantMigration = {
  name: '0010-lti-said',
  loses: 'Which names, addresses and titles an LMS sent last.',
  up: () => `
      ALTER TABLE lti_identities ADD COLUMN name_said varchar(255), ADD COLUMN email_said varchar(255), ADD COLUMN email_given varchar(255);
      UPDATE lti_identities i SET email_given = u.email FROM users u WHERE u.id = i.user_id AND u.email LIKE '%@lti.invalid';
      ALTER TABLE groups ADD COLUMN title_said varchar(255);
      UPDATE groups SET title_said = name WHERE context_id IS NOT NULL;
    `,
  down: () => `
      ALTER TABLE groups DROP COLUMN title_said;
      ALTER TABLE lti_identities DROP COLUMN name_said, DROP COLUMN email_said, DROP COLUMN email_given;
    `,
};
