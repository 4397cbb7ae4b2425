import type { TenantMigration } from './migration.ts';

/**
 * What clients see of courses: an id of registrations, the label of a course as each launch had it, and an index that gives the
 * last launch of a course. Its first column serves those who look for a platform's launches.
 */
export const ltiContexts: TenantMigration = {
  name: '0200-lti-contexts',
  loses: 'The ids of registrations that clients know, and the labels of courses.',
  up: () => `
      ALTER TABLE lti_tools ADD COLUMN uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT lti_tools_uuid_key UNIQUE;
      ALTER TABLE lti_launches ADD COLUMN context_label varchar(255);
      CREATE INDEX lti_launches_context_idx ON lti_launches (platform_id, context_id, id);
      DROP INDEX lti_launches_platform_id_idx;
    `,
  down: () => `
      CREATE INDEX lti_launches_platform_id_idx ON lti_launches (platform_id);
      DROP INDEX lti_launches_context_idx;
      ALTER TABLE lti_launches DROP COLUMN context_label;
      ALTER TABLE lti_tools DROP COLUMN uuid;
    `,
};
