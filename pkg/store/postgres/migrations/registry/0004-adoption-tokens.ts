import type { Migration } from '../migration.ts';

/**
 * `adoption_tokens`: whoever has the token adopts data that another resource retained; only its SHA-256 is stored.
 * `adoption_failures`: wrong tokens, by tenant and by the resource that gave them. `retry_at` is when the next token is compared.
 */
export const adoptionTokens: Migration<object> = {
  name: '0004-adoption-tokens',
  loses: 'Outstanding adoption tokens, and how often wrong ones were given.',
  up: () => `
      CREATE TABLE registry.adoption_tokens (
        tenant_id bigint PRIMARY KEY REFERENCES registry.tenants (id) ON DELETE CASCADE,
        token_hash varchar(64) NOT NULL,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE TABLE registry.adoption_failures (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        namespace_uid varchar(64) NOT NULL,
        name varchar(253) NOT NULL,
        token_hash varchar(64) NOT NULL,
        failures integer NOT NULL CHECK (failures > 0),
        failed_at timestamptz(3) NOT NULL DEFAULT now(),
        retry_at timestamptz(3) NOT NULL,
        PRIMARY KEY (tenant_id, namespace_uid, name)
      );
      REVOKE ALL ON registry.adoption_tokens, registry.adoption_failures FROM PUBLIC;
    `,
  down: () => `
      DROP TABLE registry.adoption_failures;
      DROP TABLE registry.adoption_tokens;
    `,
};
