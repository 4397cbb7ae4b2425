import type { TenantMigration } from './migration.ts';

/**
 * Where the LMS showed the launch: the origins that may frame our pages, and the address that the user returns to
 * (docs/design/lti.md, Frames).
 */
export const launchPresentation: TenantMigration = {
  name: '0006-launch-presentation',
  loses: 'Where a launch returns to.',
  up: () => 'ALTER TABLE lti_launches ADD COLUMN return_url varchar(2048), ADD COLUMN platform_url varchar(2048)',
  down: () => 'ALTER TABLE lti_launches DROP COLUMN return_url, DROP COLUMN platform_url',
};
