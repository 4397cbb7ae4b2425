import type { TenantMigration } from './migration.ts';

/**
 * What people have handed in: a version of a file, by the link that they handed it in at. `for_user` of a launch: whose hand-in
 * it reviews, as the LMS names them.
 */
export const handIns: TenantMigration = {
  name: '0213-hand-ins',
  loses: 'Which versions of files people have handed in; the files stay.',
  up: () => `
      ALTER TABLE lti_launches ADD COLUMN for_user varchar(255);
      CREATE TABLE lti_hand_ins (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT lti_hand_ins_uuid_key UNIQUE,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        context_id varchar(255) NOT NULL,
        resource_link_id varchar(255) NOT NULL,
        line_item varchar(2048),
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        file_uuid uuid NOT NULL,
        version integer NOT NULL,
        handed_in_at timestamptz(3) NOT NULL
      );
      CREATE INDEX lti_hand_ins_user_idx ON lti_hand_ins (user_id, tool_id, context_id, id);
      CREATE INDEX lti_hand_ins_tool_id_idx ON lti_hand_ins (tool_id);
    `,
  down: () => `
      DROP TABLE lti_hand_ins;
      ALTER TABLE lti_launches DROP COLUMN for_user;
    `,
};
