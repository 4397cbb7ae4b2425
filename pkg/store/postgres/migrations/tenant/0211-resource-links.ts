import type { TenantMigration } from './migration.ts';

/**
 * Resource links as the last launch of each had them, and which course is a copy of which.
 *
 * A link is one of a registration's deployment, in a context ('' where it has none). `target` is the custom parameter as the LMS
 * sent it; `file_uuid`,
 * `maker_uuid` and `course_uuid` are what it names, where key `key_id` signed it. They are no foreign keys: the page says what
 * became of a file that is gone.
 * `adopted_by` of a copy is the instructor of both courses who opened it; null: the platform said so, or that person is gone.
 */
export const resourceLinks: TenantMigration = {
  name: '0211-resource-links',
  loses:
    'The resource links, which the next launch of each writes again; which courses are copies: their people need an instructor of both again.',
  up: () => `
      CREATE TABLE lti_resource_links (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        context_id varchar(255) NOT NULL,
        resource_link_id varchar(255) NOT NULL,
        title varchar(255),
        target varchar(200),
        fault varchar(30),
        key_id varchar(16) REFERENCES lti_link_keys (id) ON DELETE SET NULL,
        file_uuid uuid,
        maker_uuid uuid,
        course_uuid uuid,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT lti_resource_links_key UNIQUE (tool_id, deployment_id, context_id, resource_link_id)
      );
      CREATE INDEX lti_resource_links_key_id_idx ON lti_resource_links (key_id);

      CREATE TABLE lti_course_copies (
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        context_id varchar(255) NOT NULL,
        origin_id varchar(255) NOT NULL,
        adopted_by bigint REFERENCES users (id) ON DELETE SET NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (platform_id, context_id, origin_id)
      );
      CREATE INDEX lti_course_copies_adopted_by_idx ON lti_course_copies (adopted_by);
    `,
  down: () => `
      DROP TABLE lti_course_copies;
      DROP TABLE lti_resource_links;
    `,
};
