import { inSchema } from './function.ts';
import type { TenantMigration } from './migration.ts';

export const END_PASSWORD_RESET = `
        DELETE FROM password_resets WHERE user_id = NEW.id;
`;

/** It calls a function of the schema. */
export const RESET_TRIGGER = `
      CREATE TRIGGER end_password_reset AFTER UPDATE OF password_hash ON users
        FOR EACH ROW WHEN (OLD.password_hash IS DISTINCT FROM NEW.password_hash) EXECUTE FUNCTION end_password_reset();`;

/**
 * From where a session was opened, so that its owner recognizes it; unknown of those before. And one outstanding reset of a
 * person's password: another replaces it, and any change of the password ends it, whoever makes it, so it is a trigger.
 */
export const sessionsAndResets: TenantMigration = {
  name: '0032-sessions-and-resets',
  loses: 'Outstanding resets of passwords, and from where sessions were opened.',
  up: () => `
      ALTER TABLE sessions ADD COLUMN ip varchar(64), ADD COLUMN user_agent varchar(500);

      CREATE TABLE password_resets (
        user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        token_hash varchar(64) NOT NULL CONSTRAINT password_resets_token_hash_key UNIQUE,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL
      );
      ${inSchema('end_password_reset', END_PASSWORD_RESET)}
      ${RESET_TRIGGER}
    `,
  down: () => `
      DROP TRIGGER end_password_reset ON users;
      DROP FUNCTION end_password_reset();
      DROP TABLE password_resets;
      ALTER TABLE sessions DROP COLUMN ip, DROP COLUMN user_agent;
    `,
};
