import { Problem } from '../../api/problem.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { OBJECT_MAX_BYTES } from '../../store/s3/upload-in-parts.ts';
import { type ArchivedFile, isCurrent, theseFiles, theseFolders } from '../archives/archive.sql.ts';
import { entriesOf, RenamedList } from '../archives/folder-entries.ts';
import { listKey, type PlannedArchive } from '../archives/planned-archive.ts';
import { ZipPlan } from '../archives/zip-plan.ts';
import { readWhole } from '../blobs/read-whole.ts';
import { writeCrc } from '../model/files/crc.sql.ts';
import type { PlannedContent } from './export-uploads.sql.ts';

/** The packed entries that one archive holds at most: some 100,000 files with long names, many more with short ones. */
const HOLDS_BYTES = 16 << 20;

/** The files and folders to export. */
export interface Chosen {
  /** uuids */
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

interface PlanServices {
  readonly db: Sql;
  readonly objects: Objects;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called when a CRC-32 has been found: a plan that is started over does not read that content again. It may throw. */
  foundCrc(): void;
}

/** Returns the key of a file's content in a plan. */
const keyOf = ({ blobName, uuid }: ArchivedFile): string => `${blobName} ${uuid}`;

/** Returns the content that `keyOf` made the key of. */
export function contentOf(key: string): PlannedContent {
  const [content = '', file = ''] = key.split(' ');
  return { key: content, file };
}

/**
 * Plans the archive of the files and folders that are live now, which determines each of its bytes. A content without a known
 * CRC-32 is read, and its CRC-32 stored for later use. `gone` receives files that are permanently deleted meanwhile, and files
 * whose content the store has lost. Throws `archive_too_large`.
 */
export async function planExport(
  services: PlanServices,
  { files, folders }: Chosen,
  gone: (file: ArchivedFile, why: 'deleted' | 'lost') => void,
): Promise<PlannedArchive> {
  const { db, signal } = services;
  const [plan, renamed] = [new ZipPlan(), new RenamedList()];
  for await (const { path, modifiedAt, file, list } of entriesOf(
    db,
    { files: theseFiles(db, files), folders: theseFolders(db, folders) },
    renamed,
  )) {
    signal.throwIfAborted();
    if (list) {
      const sums = list.sums();
      plan.add({ path, modifiedAt, file: { size: list.bytes, crc: sums.crc, key: listKey(sums) } });
    } else if (file) {
      const crc = file.crc ?? (await readCrc(services, file));
      if (typeof crc === 'string') gone(file, crc);
      else plan.add({ path, modifiedAt, file: { size: file.size, crc, key: keyOf(file) } });
    } else plan.add({ path, modifiedAt });
    if (plan.heldBytes + renamed.heldBytes > HOLDS_BYTES)
      throw new Problem(
        'archive_too_large',
        'There are too many files and folders for one archive. Export the folders one by one.',
      );
  }
  if (plan.bytes > OBJECT_MAX_BYTES)
    throw new Problem('archive_too_large', 'The archive would have more than 5 TiB. Export the folders one by one.');
  return { plan, renamed };
}

/** `deleted`: for ever, or replaced. */
async function readCrc(
  { db, objects, log, signal, foundCrc }: PlanServices,
  file: ArchivedFile,
): Promise<number | 'deleted' | 'lost'> {
  const read = await readWhole(objects, file.blobName, signal);
  if (read?.size === file.size) {
    if (await writeCrc(db, file.blobName, read)) foundCrc();
    return read.crc32;
  }
  if (!(await isCurrent(db, file))) return 'deleted';
  log.error(
    { file: file.uuid, found: read?.size ?? null, expected: file.size },
    'the object of a file is missing or of another size',
  );
  return 'lost';
}
