import type { TenantMigration } from './migration.ts';

/**
 * What an LMS said last of a person and of a course, so that what changes there is told from what was changed here.
 * `email_given`: the address that the launch gave the person, which is not always the one that was said. Nothing is known of who launched before,
 * but that addresses of lti.invalid are ours; no course could be renamed here until now.
 */
export const ltiSaid: TenantMigration = {
  name: '0010-lti-said',
  up: (tx) =>
    tx.query(`
      ALTER TABLE lti_identities ADD COLUMN name_said varchar(255), ADD COLUMN email_said varchar(255), ADD COLUMN email_given varchar(255);
      UPDATE lti_identities i SET email_given = u.email FROM users u WHERE u.id = i.user_id AND u.email LIKE '%@lti.invalid';
      ALTER TABLE groups ADD COLUMN title_said varchar(255);
      UPDATE groups SET title_said = name WHERE context_id IS NOT NULL;
    `),
  down: (tx) =>
    tx.query(`
      ALTER TABLE groups DROP COLUMN title_said;
      ALTER TABLE lti_identities DROP COLUMN name_said, DROP COLUMN email_said, DROP COLUMN email_given;
    `),
};
