import type { TenantMigration } from './migration.ts';

/**
 * Grade passback (docs/design/lti.md, Grades). A grade belongs to a cell of the LMS's grade book: a line item and a user.
 * Timestamps differ within a cell, since an LMS accepts only a newer one. `sent_at` is null as long as the LMS cannot have the
 * grade.
 */
export const grades: TenantMigration = {
  name: '0007-grades',
  loses: 'For which line item each grade is, and how its submission went.',
  up: () => `
      ALTER TABLE lti_grades
        ADD COLUMN uuid uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT lti_grades_uuid_key UNIQUE,
        ADD COLUMN line_item varchar(2048) NOT NULL DEFAULT '',
        ADD COLUMN cell varchar(64) NOT NULL DEFAULT '',
        ADD COLUMN reason varchar(500),
        ADD COLUMN attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        ADD COLUMN sent_at timestamptz(3),
        ADD COLUMN submitted_at timestamptz(3),
        ADD COLUMN revision bigint NOT NULL DEFAULT 1,
        ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT now();
      -- Each row from before this migration is alone in its cell.
      UPDATE lti_grades SET cell = uuid::text;
      ALTER TABLE lti_grades ADD CONSTRAINT lti_grades_cell_key UNIQUE (cell, timestamp);
      DROP INDEX lti_grades_launch_id_idx;
      CREATE INDEX lti_grades_launch_id_idx ON lti_grades (launch_id, timestamp, id);
      CREATE TRIGGER touch BEFORE UPDATE ON lti_grades FOR EACH ROW EXECUTE FUNCTION carrel.touch();
    `,
  down: () => `
      DROP TRIGGER touch ON lti_grades;
      DROP INDEX lti_grades_launch_id_idx;
      CREATE INDEX lti_grades_launch_id_idx ON lti_grades (launch_id);
      ALTER TABLE lti_grades DROP COLUMN uuid, DROP COLUMN line_item, DROP COLUMN cell, DROP COLUMN reason, DROP COLUMN attempts,
        DROP COLUMN sent_at, DROP COLUMN submitted_at, DROP COLUMN revision, DROP COLUMN updated_at;
    `,
};
