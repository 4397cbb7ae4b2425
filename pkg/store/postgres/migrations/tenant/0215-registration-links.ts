import type { TenantMigration } from './migration.ts';

/**
 * Links by which one LMS each registers itself. `token_hash` is the SHA-256 of what stands in the address. An attempt holds the
 * link until
 * `attempt_until`; with `used_at` it has succeeded, and `issuer` and `client_id` name the registration that came of it.
 */
export const registrationLinks: TenantMigration = {
  name: '0215-registration-links',
  loses:
    'Links for Dynamic Registration that are not used yet, and what LMSs agreed when they registered; the registrations stay.',
  up: () => `
      CREATE TABLE lti_registration_links (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT lti_registration_links_uuid_key UNIQUE,
        token_hash varchar(64) NOT NULL CONSTRAINT lti_registration_links_token_hash_key UNIQUE,
        platform_name varchar(255),
        created_by bigint REFERENCES users (id) ON DELETE SET NULL,
        expires_at timestamptz(3) NOT NULL,
        attempt uuid,
        attempt_until timestamptz(3),
        used_at timestamptz(3),
        issuer varchar(500),
        client_id varchar(255),
        registered jsonb,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (used_at IS NULL OR (issuer IS NOT NULL AND client_id IS NOT NULL AND registered IS NOT NULL))
      );
      CREATE INDEX lti_registration_links_created_by_idx ON lti_registration_links (created_by);
      CREATE INDEX lti_registration_links_client_id_idx ON lti_registration_links (client_id, issuer) WHERE client_id IS NOT NULL;
    `,
  down: () => `
      DROP TABLE lti_registration_links;
    `,
};
