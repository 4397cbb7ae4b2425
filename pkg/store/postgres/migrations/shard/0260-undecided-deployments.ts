import type { Migration } from '../migration.ts';

/**
 * Servers also note deployments of logins that are of one of several LMSs with one issuer and client id, and of which it cannot
 * be said.
 */
export const undecidedDeployments: Migration<object> = {
  name: '0260-undecided-deployments',
  loses: 'Which deployments began logins that were refused because two LMSs share an issuer and a client id.',
  up: () => `
      ALTER TABLE carrel.unknown_values DROP CONSTRAINT unknown_values_field_check,
        ADD CONSTRAINT unknown_values_field_check CHECK (field IN ('iss', 'client_id', 'lti_deployment_id'));
    `,
  down: () => `
      DELETE FROM carrel.unknown_values WHERE field = 'lti_deployment_id';
      ALTER TABLE carrel.unknown_values DROP CONSTRAINT unknown_values_field_check,
        ADD CONSTRAINT unknown_values_field_check CHECK (field IN ('iss', 'client_id'));
    `,
};
