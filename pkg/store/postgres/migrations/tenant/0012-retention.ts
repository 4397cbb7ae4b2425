import type { TenantMigration } from './migration.ts';

/** They call a function of the schema. */
export const PURGE_TRIGGERS = `
      CREATE TRIGGER purge AFTER INSERT ON lti_launches FOR EACH ROW WHEN (NEW.id % 16 = 0) EXECUTE FUNCTION purge_launches();
      CREATE TRIGGER purge AFTER INSERT ON sessions FOR EACH ROW WHEN (NEW.id::text LIKE '0%') EXECUTE FUNCTION purge_sessions();
      CREATE TRIGGER purge AFTER INSERT ON refresh_tokens FOR EACH ROW WHEN (NEW.token_hash LIKE '0%') EXECUTE FUNCTION purge_refresh_tokens();`;

/**
 * Inserts delete expired rows, so that no table grows for ever (docs/design/events-and-jobs.md, Retention: launches after 90
 * days, sessions and refresh tokens a day after their end, since clocks differ). One insert in sixteen deletes, at most 320 rows;
 * the others cost nothing more. The present time is that of the inserted row, which the server's clock wrote. A launch with
 * grades stays; its first grade clears its token, so the index does not contain such launches. These are triggers, because a
 * statement would cost each login and each launch a round trip.
 */
export const retention: TenantMigration = {
  name: '0012-retention',
  up: () => `
      CREATE INDEX lti_launches_ungraded_idx ON lti_launches (launched_at) WHERE launch_token IS NOT NULL;
      CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at);

      CREATE FUNCTION purge_launches() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        DELETE FROM lti_launches WHERE id IN (
          SELECT id FROM lti_launches l
          WHERE launch_token IS NOT NULL AND launched_at < NEW.launched_at - interval '90 days'
            AND NOT EXISTS (SELECT FROM lti_grades g WHERE g.launch_id = l.launch_id)
          ORDER BY launched_at LIMIT 320 FOR UPDATE SKIP LOCKED);
        RETURN NULL;
      END $$;

      CREATE FUNCTION purge_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        DELETE FROM sessions WHERE id IN (
          SELECT id FROM sessions WHERE expires_at < NEW.created_at - interval '1 day' ORDER BY expires_at LIMIT 320 FOR UPDATE SKIP LOCKED);
        RETURN NULL;
      END $$;

      CREATE FUNCTION purge_refresh_tokens() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        DELETE FROM refresh_tokens WHERE token_hash IN (
          SELECT token_hash FROM refresh_tokens WHERE expires_at < NEW.created_at - interval '1 day'
          ORDER BY expires_at LIMIT 320 FOR UPDATE SKIP LOCKED);
        RETURN NULL;
      END $$;
      ${PURGE_TRIGGERS}
    `,
  down: () => `
      DROP TRIGGER purge ON refresh_tokens;
      DROP TRIGGER purge ON sessions;
      DROP TRIGGER purge ON lti_launches;
      DROP FUNCTION purge_refresh_tokens(), purge_sessions(), purge_launches();
      DROP INDEX refresh_tokens_expires_at_idx, lti_launches_ungraded_idx;
    `,
};
