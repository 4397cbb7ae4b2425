import type { Sql } from '../../store/postgres/pool.ts';
import { type ArchivedFile, type ArchivedFolder, filesIn, folderItself, foldersIn } from './archive.sql.ts';
import { FolderNames } from './archive-names.policy.ts';
import type { PackedLog } from './packed-log.ts';
import type { ZipEntry } from './zip-writer.ts';

/** What an archive says of names that it changed; it lies in the archive's top folder. */
const RENAMED = '_renamed.txt';
const RENAMED_HEAD = 'These names were changed so that the archive can be unpacked on Linux, macOS and Windows.\n\n';

/** A file that comes with its content; null: it was deleted for ever meanwhile. */
export interface Coming {
  readonly file: ArchivedFile;
  readonly content: AsyncIterable<Buffer> | null;
}

/** A folder whose folders are being written. */
interface Level {
  /** In the archive; ends in `/`. */
  readonly path: string;
  readonly names: FolderNames;
  readonly folders: AsyncGenerator<ArchivedFolder>;
}

/**
 * The entries of a folder's archive: the folder on top, then of each folder its files and its folders, by name. No two unpack to one path: the later
 * one is renamed, and the last entry, `_renamed.txt`, lists each change. In memory are the folders above the present one, the changes, packed, and
 * 48 bits for each name in those folders.
 *
 * `contents` opens files in the order in which it gets them; `renamed` is empty, and gets the changes.
 */
export async function* entriesOf(
  sql: Sql,
  folderId: number,
  { contents, renamed }: { contents: (files: AsyncIterable<ArchivedFile>) => AsyncIterable<Coming>; renamed: PackedLog },
): AsyncGenerator<ZipEntry> {
  let top: { path: string; names: FolderNames; modifiedAt: Date } | undefined;
  const levels: Level[] = [{ path: '', names: new FolderNames(), folders: folderItself(sql, folderId) }];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { value: folder, done } = await level.folders.next();
    if (done) {
      levels.pop();
      continue;
    }
    const path = `${named(level, folder.name, renamed)}/`;
    const inside: Level = { path, names: new FolderNames(), folders: folder.hasFolders ? foldersIn(sql, folder.id) : none() };
    top ??= { ...inside, modifiedAt: folder.updatedAt };
    yield { path, modifiedAt: folder.updatedAt };
    for await (const { file, content } of contents(filesIn(sql, folder.id))) {
      if (content) yield { path: named(inside, file.name, renamed), modifiedAt: file.updatedAt, file: { size: file.size, content } };
    }
    levels.push(inside);
  }
  if (!top || renamed.bytes === 0) return;
  const head = Buffer.from(RENAMED_HEAD);
  const content = textOf(head, renamed);
  yield { path: `${top.path}${top.names.give(RENAMED)}`, modifiedAt: top.modifiedAt, file: { size: head.length + renamed.bytes, content } };
}

function named({ path, names }: Level, name: string, renamed: PackedLog): string {
  const given = names.give(name);
  if (given !== name) renamed.add(Buffer.from(`${path}${given}\n    was: ${name}\n`));
  return `${path}${given}`;
}

async function* textOf(head: Buffer, lines: PackedLog): AsyncGenerator<Buffer> {
  yield head;
  yield* lines.pieces();
}

async function* none(): AsyncGenerator<never> {
  // A folder without folders needs no statement to say so.
}
