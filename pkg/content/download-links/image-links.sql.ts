import { sha256Hex } from '../../runtime/sha256.ts';
import type { Random } from '../../runtime/random.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';

/* URLs of images that LMS pages show: they need no session and are valid as long as the pages exist. */

const TOKEN = /^image-[0-9a-f]{64}$/;
const TOKEN_BYTES = 32;

/**
 * Creates a URL for a version of a file that `givenBy` (users.id) may read. Returns the part after `/tickets/`; only its hash is
 * stored. One statement.
 */
export async function createImageLink(
  tx: Tx,
  random: Random,
  of: { readonly fileId: number; readonly version: number; readonly givenBy: number },
): Promise<string> {
  const token = `image-${random.hex(TOKEN_BYTES)}`;
  await tx.query('INSERT INTO image_links (token_hash, file_id, version_number, given_by) VALUES ($1, $2, $3, $4)', [
    sha256Hex(token),
    of.fileId,
    of.version,
    of.givenBy,
  ]);
  return token;
}

export const isImageLink = (ticket: string): boolean => TOKEN.test(ticket);

/** Returns the uuids of the file and the user of a link, and the version. One statement. */
export async function findImageLink(
  sql: Pick<Executor, 'prepared'>,
  token: string,
): Promise<{ readonly file: string; readonly version: number; readonly user: string } | undefined> {
  const [link] = await sql.prepared<{ file: string; version: number; user: string }>(
    'content-image-link',
    `SELECT f.uuid AS file, i.version_number AS version, u.uuid AS "user" FROM image_links i JOIN files f ON f.id = i.file_id
     JOIN users u ON u.id = i.given_by WHERE i.token_hash = $1`,
    [sha256Hex(token)],
  );
  return link;
}
