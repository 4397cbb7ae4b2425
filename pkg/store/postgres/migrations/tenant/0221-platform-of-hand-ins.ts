import type { TenantMigration } from './migration.ts';

/**
 * A registration may come to name another LMS, whose courses and links have ids of their own: a hand-in is one at the LMS that it
 * was handed in at.
 */
export const platformOfHandIns: TenantMigration = {
  name: '0221-platform-of-hand-ins',
  loses: 'At which LMS people have handed in, where a registration has come to name another one since.',
  up: () => `
      ALTER TABLE lti_hand_ins ADD COLUMN platform_id integer REFERENCES lti_platforms (id) ON DELETE CASCADE;
      UPDATE lti_hand_ins h SET platform_id = t.platform_id FROM lti_tools t WHERE t.id = h.tool_id;
      CREATE INDEX lti_hand_ins_platform_id_idx ON lti_hand_ins (platform_id);
    `,
  down: () => `
      ALTER TABLE lti_hand_ins DROP COLUMN platform_id;
    `,
};
