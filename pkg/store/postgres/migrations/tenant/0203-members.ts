import type { TenantMigration } from './migration.ts';

/**
 * The people of a course as the LMS says, by its roster or by their launches; an account here is another thing (lti_identities).
 * `is_active` false: has left.
 * `source`: what says that they are in the course. `lti_roster_entries` is what a job has read of a roster that is not taken over
 * yet: of one person perhaps several entries. `roster_synced_at`: when the reading of the roster began that was taken over last;
 * `roster_asked_at`: when a launch asked for the next one.
 */
export const members: TenantMigration = {
  name: '0203-members',
  loses:
    'Who is in a course without an account here, and when rosters were taken over; jobs of the kinds sync_roster and sync_rosters, and schedules of these.',
  up: () => `
      CREATE INDEX lti_launches_person_idx ON lti_launches (platform_id, user_id, id);
      ALTER TABLE groups ADD COLUMN roster_synced_at timestamptz(3), ADD COLUMN roster_asked_at timestamptz(3);

      CREATE TABLE lti_members (
        group_id bigint NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        name varchar(255),
        email varchar(255),
        roles text[] NOT NULL,
        role varchar(10) NOT NULL CHECK (role IN ('instructor', 'learner')),
        is_active boolean NOT NULL DEFAULT true,
        source varchar(10) NOT NULL CHECK (source IN ('launch', 'roster')),
        PRIMARY KEY (group_id, subject)
      );
      CREATE INDEX lti_members_name_idx ON lti_members (group_id, (coalesce(name, '')) COLLATE carrel.names, subject);
      INSERT INTO lti_members (group_id, subject, name, email, roles, role, source)
        SELECT g.id, i.subject, i.name_said, i.email_said,
          coalesce((SELECT l.roles FROM lti_launches l WHERE l.platform_id = i.platform_id AND l.user_id = i.subject AND l.context_id = g.context_id
            ORDER BY l.id DESC LIMIT 1), '{}'),
          CASE m.role WHEN 'instructor' THEN 'instructor' ELSE 'learner' END, 'launch'
        FROM groups g JOIN group_members m ON m.group_id = g.id JOIN lti_identities i ON i.platform_id = g.platform_id AND i.user_id = m.user_id
        WHERE g.context_id IS NOT NULL;

      CREATE TABLE lti_roster_entries (
        task_id bigint NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
        subject varchar(255) NOT NULL,
        name varchar(255),
        email varchar(255),
        roles text[] NOT NULL,
        role varchar(10) NOT NULL,
        is_active boolean NOT NULL,
        PRIMARY KEY (task_id, subject, is_active, role)
      );
    `,
  down: () => `
      DELETE FROM tasks WHERE kind IN ('sync_roster', 'sync_rosters');
      DELETE FROM schedules WHERE kind = 'sync_rosters';
      DROP TABLE lti_roster_entries;
      DROP TABLE lti_members;
      ALTER TABLE groups DROP COLUMN roster_synced_at, DROP COLUMN roster_asked_at;
      DROP INDEX lti_launches_person_idx;
    `,
};
