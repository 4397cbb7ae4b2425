import { crc32 } from 'node:zlib';
import { createHash } from 'node:crypto';
import type { Sql } from '../../store/postgres/pool.ts';
import { type ArchivedFile, type ArchivedFolder, filesIn, folderItself, foldersIn } from './archive.sql.ts';
import { FolderNames } from './archive-names.policy.ts';
import { PackedLog } from './packed-log.ts';

/** The list of names that an archive changed; it is in the archive's top folder. */
const RENAMED = '_renamed.txt';
const RENAMED_HEAD = 'These names were changed so that the archive can be unpacked on Linux, macOS and Windows.\n\n';

/** An entry of an archive, named: a folder, a file of somebody's, or the list of changed names. */
export interface NamedEntry {
  /** The path of the ZipEntry. */
  readonly path: string;
  readonly modifiedAt: Date;
  readonly file: ArchivedFile | null;
  readonly list: RenamedList | null;
}

/** The names that an archive has changed. */
export class RenamedList {
  readonly #lines: PackedLog;

  constructor(lines = new PackedLog()) {
    this.#lines = lines;
  }

  /** Returns the list that `pack` gave. */
  static unpack(packed: Buffer): RenamedList {
    return new RenamedList(PackedLog.unpack(packed));
  }

  pack(): Buffer {
    return this.#lines.pack();
  }

  add(given: string, name: string): void {
    if (this.#lines.bytes === 0) this.#lines.add(Buffer.from(RENAMED_HEAD));
    this.#lines.add(Buffer.from(`${given}\n    was: ${name}\n`));
  }

  /** Is 0 if no name was changed. */
  get bytes(): number {
    return this.#lines.bytes;
  }

  get heldBytes(): number {
    return this.#lines.heldBytes;
  }

  text(): Generator<Buffer> {
    return this.#lines.pieces();
  }

  sums(): { crc: number; sha256: string } {
    const hash = createHash('sha256');
    let crc = 0;
    for (const piece of this.text()) {
      hash.update(piece);
      crc = crc32(piece, crc);
    }
    return { crc, sha256: hash.digest('base64url') };
  }
}

/** The top level of an archive. */
export interface ArchiveTop {
  readonly files: AsyncIterable<ArchivedFile>;
  readonly folders: AsyncGenerator<ArchivedFolder>;
}

/** Returns an archive with this folder alone at its top. */
export const topFolder = (sql: Sql, id: number): ArchiveTop => ({ files: none(), folders: folderItself(sql, id) });

/** A folder whose folders are being written. */
interface Level {
  /** In the archive; ends in `/`. */
  readonly path: string;
  readonly names: FolderNames;
  readonly folders: AsyncGenerator<ArchivedFolder>;
}

/**
 * Yields the entries of an archive: the top level, then the files and folders of each folder, by name. No two entries unpack to
 * the same path: the later one is renamed. If there is one top folder, its last entry, `_renamed.txt`, lists the changes. Memory
 * holds the folders above the current one, the packed changes, and 48 bits for each name in those folders. `renamed` must be
 * empty, and receives the changes.
 */
export async function* entriesOf(sql: Sql, top: ArchiveTop, renamed: RenamedList): AsyncGenerator<NamedEntry> {
  const roots: Level = { path: '', names: new FolderNames(), folders: top.folders };
  let lists: { readonly level: Level; readonly modifiedAt: Date } | undefined;
  for await (const file of top.files) {
    yield { path: named(roots, file.name, renamed), modifiedAt: file.updatedAt, file, list: null };
    lists ??= { level: roots, modifiedAt: file.updatedAt };
  }
  const levels: Level[] = [roots];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const { value: folder, done } = await level.folders.next();
    if (done) {
      levels.pop();
      continue;
    }
    const path = `${named(level, folder.name, renamed)}/`;
    const inside: Level = { path, names: new FolderNames(), folders: folder.hasFolders ? foldersIn(sql, folder.id) : none() };
    if (level === roots) lists = { level: lists ? roots : inside, modifiedAt: lists?.modifiedAt ?? folder.updatedAt };
    yield { path, modifiedAt: folder.updatedAt, file: null, list: null };
    for await (const file of folder.hasFiles ? filesIn(sql, folder.id) : none())
      yield { path: named(inside, file.name, renamed), modifiedAt: file.updatedAt, file, list: null };
    levels.push(inside);
  }
  if (!lists || renamed.bytes === 0) return;
  const { level, modifiedAt } = lists;
  yield { path: `${level.path}${level.names.give(RENAMED)}`, modifiedAt, file: null, list: renamed };
}

function named({ path, names }: Level, name: string, renamed: RenamedList): string {
  const given = names.give(name);
  if (given !== name) renamed.add(`${path}${given}`, name);
  return `${path}${given}`;
}

async function* none(): AsyncGenerator<never> {
  // No statement is needed for a folder without folders or without files.
}
