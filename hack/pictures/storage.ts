import { BYTES_OF } from '../../pkg/content/upkeep/counted.sql.ts';
import { asSuperuser } from './database.ts';

const MB = 1_000_000;

interface Large {
  readonly owner: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** A folder of the owner; the files of their own unless given. */
  readonly folder?: string;
}

/** What people store in a term beside texts. None of these files is opened: there are no bytes behind them. */
const LARGE: readonly Large[] = [
  { owner: 'Mira Falk', name: 'Opening lecture.mp4', type: 'video/mp4', bytes: 1_640 * MB, folder: 'Plans and letters' },
  { owner: 'Mira Falk', name: 'Aerial pictures 2025.zip', type: 'application/zip', bytes: 812 * MB, folder: 'Plans and letters' },
  { owner: 'Elif Demir', name: 'Seminar recording.mp4', type: 'video/mp4', bytes: 2_950 * MB },
  { owner: 'Elif Demir', name: 'Tide tables.pdf', type: 'application/pdf', bytes: 96 * MB },
  { owner: 'Jonas Weber', name: 'Scans of the herbarium.pdf', type: 'application/pdf', bytes: 1_180 * MB },
  { owner: 'Ada Okafor', name: 'Lab videos.zip', type: 'application/zip', bytes: 1_460 * MB },
  { owner: 'Amara Nwosu', name: 'Dune photographs.zip', type: 'application/zip', bytes: 640 * MB },
  { owner: 'Björn Sandberg', name: 'Sounds of the harbour.wav', type: 'audio/wav', bytes: 388 * MB },
  { owner: 'Carla Rossi', name: 'Portfolio.pdf', type: 'application/pdf', bytes: 142 * MB },
  { owner: 'Chi Tanaka', name: 'Pendulum.mp4', type: 'video/mp4', bytes: 530 * MB },
  { owner: 'Daniel Kim', name: 'Poster.png', type: 'image/png', bytes: 47 * MB },
  { owner: 'Ben Lindqvist', name: 'Measurements.csv', type: 'text/csv', bytes: 18 * MB },
  { owner: 'Freya Jensen', name: 'Lichens in close-up.zip', type: 'application/zip', bytes: 274 * MB },
  { owner: 'Hugo Martin', name: 'Excursion.mp4', type: 'video/mp4', bytes: 905 * MB },
];

/**
 * Adds large files to the records of the sample tenant, and counts what people store again. The files of the sample data are a
 * few megabytes, of which a quota of 10 GB shows nothing.
 */
export async function fillStorage(stateDirectory: string, slug: string): Promise<void> {
  await asSuperuser(stateDirectory, slug, async (sql) => {
    for (const { owner, name, type, bytes, folder = null } of LARGE)
      await sql.query(
        `WITH added AS (
           INSERT INTO files (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id, blob_name)
           SELECT gen_random_uuid(), $2::text, coalesce(d.path, '') || '/' || $2::text, split_part($2::text, '.', 2), $3,
             $4::bigint, md5($2::text), u.id, d.id, 'picture/' || $2::text
           FROM users u LEFT JOIN folders d ON d.owner_id = u.id AND d.name = $5 AND d.deleted_at IS NULL
           WHERE u.display_name = $1
           ON CONFLICT DO NOTHING
           RETURNING id, owner_id
         )
         INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by)
         SELECT id, 1, $4::bigint, md5($2::text), 'picture/' || $2::text, owner_id FROM added`,
        [owner, name, type, bytes, folder],
      );
    await sql.query(`UPDATE users u SET storage_used = ${BYTES_OF('u.id')} WHERE NOT is_system`);
  });
}
