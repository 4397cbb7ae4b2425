import type { TenantMigration } from './migration.ts';

/**
 * Addresses of images that pages of an LMS show: a version of a file, in the name of whoever gave it. `token_hash` is the SHA-256
 * of what stands in the address. A row, since pages last longer than a data key, by which other links without a session are
 * sealed.
 */
export const imageLinks: TenantMigration = {
  name: '0222-image-links',
  loses: 'The addresses of images that people have put into pages of their LMS: those pages show them no more.',
  up: () => `
      CREATE TABLE image_links (
        token_hash varchar(64) PRIMARY KEY,
        file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        version_number integer NOT NULL,
        given_by bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX image_links_file_id_idx ON image_links (file_id);
      CREATE INDEX image_links_given_by_idx ON image_links (given_by);
    `,
  down: () => `
      DROP TABLE image_links;
    `,
};
