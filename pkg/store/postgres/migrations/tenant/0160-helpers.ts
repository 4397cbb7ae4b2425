import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

/**
 * The tenant's helper services as `spec.helpers` of its resource has them; `token` is sealed. The operator writes them, the
 * tenant's role reads them.
 */
export const helpers: TenantMigration = {
  name: '0160-helpers',
  loses:
    'The addresses and tokens of helper services, until the operator writes them again; jobs of the kinds optimize and translate.',
  up: ({ role }) => `
      CREATE TABLE helpers (
        kind varchar(20) PRIMARY KEY CHECK (kind IN ('translate', 'pdf_optimize', 'pdf_translate')),
        url varchar(500) NOT NULL,
        token text
      );
      REVOKE ALL ON helpers FROM ${quoteIdentifier(role)};
      GRANT SELECT ON helpers TO ${quoteIdentifier(role)};
    `,
  down: () => `
      DELETE FROM tasks WHERE kind IN ('optimize', 'translate');
      DROP TABLE helpers;
    `,
};
