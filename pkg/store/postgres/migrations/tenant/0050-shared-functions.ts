import { TRIGGER_FUNCTIONS } from '../shard/0014-functions-of-tenants.ts';
import { PURGE_TRIGGERS } from './0012-retention.ts';
import { BOUND_GRANTS_THROUGH, END_GRANTS_OF_MEMBER, GRANT_TRIGGERS } from './0014-grants-through.ts';
import { END_PASSWORD_RESET, RESET_TRIGGER } from './0032-sessions-and-resets.ts';
import { purgeFunctions } from './0042-purge-by-index.ts';
import { AUDIT_TRIGGERS, auditFunctions } from './0045-audit.ts';
import { LTI_TRIGGERS, ltiFunctions, withSearchPath } from './0048-audit-of-lti.ts';
import { sessionsFunction } from './0049-requests-of-launches.ts';
import { inSchema } from './function.ts';
import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

const TRIGGERS = [PURGE_TRIGGERS, GRANT_TRIGGERS, RESET_TRIGGER, AUDIT_TRIGGERS, LTI_TRIGGERS]
  .join('\n')
  .replaceAll('CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER');

/**
 * Triggers call the functions that all tenants of the shard share (shard migration 0014). What servers of the former release call
 * by name, and what that calls, is still here; it goes in a later release.
 */
export const sharedFunctions: TenantMigration = {
  name: '0050-shared-functions',
  up: () =>
    `${TRIGGERS.replaceAll('EXECUTE FUNCTION ', 'EXECUTE FUNCTION carrel.')} DROP FUNCTION ${TRIGGER_FUNCTIONS.join(', ')};`,
  down: ({ role }) => `
      ${purgeFunctions}
      ${inSchema('bound_grants_through', BOUND_GRANTS_THROUGH)}
      ${inSchema('end_grants_of_member', END_GRANTS_OF_MEMBER)}
      ${inSchema('end_password_reset', END_PASSWORD_RESET)}
      ${auditFunctions()}
      ${sessionsFunction(role)}
      ${ltiFunctions(role)}
      ${withSearchPath(`= ${quoteIdentifier(role)}, ext, pg_temp`)}
      ${TRIGGERS}
    `,
};
