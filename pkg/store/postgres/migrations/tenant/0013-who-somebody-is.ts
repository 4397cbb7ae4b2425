import type { TenantMigration } from './migration.ts';

/**
 * Addresses that an LMS sent, administrators that the operator made, and the roles that a launch's session may have.
 *
 * - `contact_email` is the address that an LMS sent last. `email` is the account's own, and only administrators set it. An
 *   account without a password whose address came from a launch gets an address of lti.invalid, and its old one as
 *   `contact_email`. An account with a password keeps its address: an administrator set that password, and its owner signs in
 *   with the address.
 * - `provisioned_as`: the address for which the operator made this account. Of older accounts it is set only where no other
 *   origin is possible: an administrator, active or not, with a password and without a launch, who is the tenant's first account
 *   or still has the operator's name for it.
 * - `email_given` is no longer written; where it is not null, a server of the previous release wrote it (the next launch moves
 *   that address too).
 * - `capped_to`: the only roles that a session may have; null: all of its account's.
 */
export const whoSomebodyIs: TenantMigration = {
  name: '0013-who-somebody-is',
  loses: 'Contact addresses, and which account the operator made; sessions of launches whose roles are capped end.',
  up: () => `
      ALTER TABLE sessions ADD COLUMN capped_to text[] CHECK (capped_to <@ ARRAY['instructor', 'member', 'viewer']);
      ALTER TABLE users ADD COLUMN contact_email varchar(255), ADD COLUMN provisioned_as varchar(255);
      CREATE UNIQUE INDEX users_provisioned_as_key ON users (lower(provisioned_as));
      DROP TRIGGER touch ON users;
      CREATE TRIGGER touch
        BEFORE UPDATE OF email, username, display_name, contact_email, password_hash, roles, storage_quota, is_active ON users
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();

      UPDATE users u SET contact_email = coalesce(i.email_said, u.email), email = replace(u.uuid::text, '-', '') || '@lti.invalid'
        FROM lti_identities i
        WHERE i.user_id = u.id AND u.password_hash IS NULL AND u.email NOT LIKE '%@lti.invalid' AND (i.email_given IS NULL OR i.email_given = u.email);
      UPDATE users u SET contact_email = i.email_said
        FROM lti_identities i WHERE i.user_id = u.id AND u.contact_email IS NULL AND i.email_said IS NOT NULL;
      UPDATE lti_identities SET email_given = NULL WHERE email_given IS NOT NULL;

      UPDATE users u SET provisioned_as = u.email
        WHERE NOT u.is_system AND 'admin' = ANY (u.roles) AND u.password_hash IS NOT NULL
          AND (u.display_name = 'Administrator' OR u.id = (SELECT min(id) FROM users WHERE NOT is_system))
          AND NOT EXISTS (SELECT FROM lti_identities i WHERE i.user_id = u.id);
    `,
  // The addresses stay: an administrator may have set others since. Those of lti.invalid follow the LMS again.
  // Sessions whose roles are capped end: nothing would cap them afterwards.
  down: () => `
      UPDATE lti_identities i SET email_given = u.email FROM users u WHERE u.id = i.user_id AND u.email LIKE '%@lti.invalid';
      UPDATE sessions SET ended_at = now() WHERE capped_to IS NOT NULL AND ended_at IS NULL;
      DROP TRIGGER touch ON users;
      CREATE TRIGGER touch BEFORE UPDATE OF email, username, display_name, password_hash, roles, storage_quota, is_active ON users
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      DROP INDEX users_provisioned_as_key;
      ALTER TABLE users DROP COLUMN contact_email, DROP COLUMN provisioned_as;
      ALTER TABLE sessions DROP COLUMN capped_to;
    `,
};
