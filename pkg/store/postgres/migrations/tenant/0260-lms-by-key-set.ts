import type { TenantMigration } from './migration.ts';

/**
 * An LMS is an issuer and a key set: several may share an issuer, and a client id. A client id is one registration's within its
 * LMS. A registration link keeps the key set of the LMS that used it; of links that were used before this migration the issuer
 * has one LMS.
 *
 * By md5: both addresses as they are would exceed what an index takes.
 */
export const lmsByKeySet: TenantMigration = {
  name: '0260-lms-by-key-set',
  loses:
    'Of several LMSs with one issuer all but the first, with their registrations and who is whom there; of several registrations with one client id all but the first.',
  up: () => `
      CREATE UNIQUE INDEX lti_platforms_issuer_jwks_endpoint_key ON lti_platforms (issuer, md5(jwks_endpoint));
      ALTER TABLE lti_platforms DROP CONSTRAINT lti_platforms_issuer_key;
      ALTER TABLE lti_tools ADD CONSTRAINT lti_tools_platform_id_client_id_key UNIQUE (platform_id, client_id);
      ALTER TABLE lti_tools DROP CONSTRAINT lti_tools_client_id_key;
      DROP INDEX lti_tools_platform_id_idx;
      ALTER TABLE lti_registration_links ADD COLUMN jwks_endpoint varchar(500);
      UPDATE lti_registration_links l SET jwks_endpoint = p.jwks_endpoint FROM lti_platforms p WHERE p.issuer = l.issuer;
    `,
  down: () => `
      ALTER TABLE lti_registration_links DROP COLUMN jwks_endpoint;
      DELETE FROM lti_tools t USING lti_platforms p WHERE p.id = t.platform_id
        AND EXISTS (SELECT FROM lti_platforms e WHERE e.issuer = p.issuer AND e.id < p.id);
      DELETE FROM lti_tools t WHERE EXISTS (SELECT FROM lti_tools e WHERE e.client_id = t.client_id AND e.id < t.id);
      DELETE FROM lti_platforms p WHERE EXISTS (SELECT FROM lti_platforms e WHERE e.issuer = p.issuer AND e.id < p.id);
      CREATE INDEX lti_tools_platform_id_idx ON lti_tools (platform_id);
      ALTER TABLE lti_tools ADD CONSTRAINT lti_tools_client_id_key UNIQUE (client_id);
      ALTER TABLE lti_tools DROP CONSTRAINT lti_tools_platform_id_client_id_key;
      ALTER TABLE lti_platforms ADD CONSTRAINT lti_platforms_issuer_key UNIQUE (issuer);
      DROP INDEX lti_platforms_issuer_jwks_endpoint_key;
    `,
};
