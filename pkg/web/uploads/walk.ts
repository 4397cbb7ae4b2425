/** A file to upload. `path`: the folders below the target folder, and the file's own name. */
export interface FoundFile {
  readonly path: readonly string[];
  readonly file: File;
  /** Returns a handle that reads the file again after a reload; undefined where the browser gives none. */
  readonly handle?: (() => Promise<FileSystemFileHandle | undefined>) | undefined;
}

/** What one step of a walk found. */
export interface Batch {
  readonly files: readonly FoundFile[];
  /** Paths of folders that contain nothing to upload; they are made empty. */
  readonly emptyFolders: readonly (readonly string[])[];
  /** Paths of files that an operating system made for itself. */
  readonly leftOut: readonly (readonly string[])[];
  /** Paths of files and folders that the browser could not read. */
  readonly unreadable: readonly (readonly string[])[];
}

/** A dropped file or folder. */
export interface Dropped {
  readonly entry: FileSystemEntry;
  readonly handle?: FoundFile['handle'];
}

interface Found extends Dropped {
  readonly path: readonly string[];
}

interface Folder {
  readonly path: readonly string[];
  readonly reader: FileSystemDirectoryReader;
  /** Whether a former read found an entry that is kept. */
  isUsed: boolean;
}

/** Folders that are read side by side: many small folders take several reads each. */
const READS = 8;

/** Files that macOS and Windows write into folders for themselves. */
const JUNK = /^(\.DS_Store|Thumbs\.db|ehthumbs\.db|desktop\.ini|\._.*)$/i;

/** Returns whether an operating system made a file of this name for itself. */
export const isJunk = (name: string): boolean => JUNK.test(name);

/**
 * Takes the entries out of a drop. Call it in the event: the browser empties `items` afterwards. Folders get no handle: Chromium
 * answers the wish for one of Documents or Downloads with a dialog that such a folder may not be opened.
 */
export function droppedOf(items: DataTransferItemList): Dropped[] {
  return [...items].flatMap((item) => {
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null;
    if (!entry) return [];
    if (entry.isDirectory) return [{ entry }];
    // Asking for it later fails. Nothing may ever await it, so a refusal must not count as unhandled.
    const handle = (item as WithHandle).getAsFileSystemHandle?.().catch(() => undefined);
    return [{ entry, handle: async () => ((await handle) as FileSystemFileHandle | null | undefined) ?? undefined }];
  });
}

/** Not every browser has it. */
interface WithHandle {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

/**
 * Walks through dropped files and folders. Yields what each step found, so that the first uploads start while it goes on.
 * A browser returns at most 100 entries of a folder in one read. Throws the signal's reason when it aborts.
 */
export async function* walk(dropped: readonly Dropped[], signal: AbortSignal): AsyncGenerator<Batch> {
  const folders: Folder[] = [];
  yield await batchOf(
    dropped.map(({ entry, handle }) => ({ path: [entry.name], entry, handle })),
    folders,
  );
  while (folders.length > 0) {
    signal.throwIfAborted();
    // The last ones: depth first needs the least memory.
    const steps = await Promise.all(folders.splice(-READS).map((folder) => readOnce(folder, folders)));
    signal.throwIfAborted();
    yield joined(steps);
  }
}

/** Reads the next entries of a folder; the folder goes back to `folders` unless this was its end. */
async function readOnce(folder: Folder, folders: Folder[]): Promise<Batch> {
  let entries: FileSystemEntry[];
  try {
    entries = await new Promise((resolve, reject) => folder.reader.readEntries(resolve, reject));
  } catch {
    return { ...NOTHING, unreadable: [folder.path] };
  }
  if (entries.length === 0) return folder.isUsed ? NOTHING : { ...NOTHING, emptyFolders: [folder.path] };
  folder.isUsed ||= entries.some(({ name, isDirectory }) => isDirectory || !isJunk(name));
  folders.push(folder);
  return batchOf(
    entries.map((entry) => ({ path: [...folder.path, entry.name], entry })),
    folders,
  );
}

async function batchOf(found: readonly Found[], folders: Folder[]): Promise<Batch> {
  const leftOut: (readonly string[])[] = [];
  const unreadable: (readonly string[])[] = [];
  const opened = found.map(async ({ path, entry, handle }): Promise<FoundFile[]> => {
    if (entry.isDirectory) {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      folders.push({ path, reader, isUsed: false });
      return [];
    }
    if (isJunk(entry.name)) {
      leftOut.push(path);
      return [];
    }
    try {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      return [{ path, file, handle }];
    } catch {
      unreadable.push(path);
      return [];
    }
  });
  return { files: (await Promise.all(opened)).flat(), emptyFolders: [], leftOut, unreadable };
}

/** Files that an input element chose: single ones, or with `webkitdirectory` those of a folder. */
export function chosenOf(files: Iterable<File>): Batch {
  const all = [...files].map((file) => ({
    file,
    path: file.webkitRelativePath ? file.webkitRelativePath.split('/') : [file.name],
  }));
  return {
    ...NOTHING,
    files: all.filter(({ file }) => !isJunk(file.name)),
    leftOut: all.filter(({ file }) => isJunk(file.name)).map(({ path }) => path),
  };
}

const NOTHING: Batch = { files: [], emptyFolders: [], leftOut: [], unreadable: [] };

const joined = (batches: readonly Batch[]): Batch => ({
  files: batches.flatMap(({ files }) => files),
  emptyFolders: batches.flatMap(({ emptyFolders }) => emptyFolders),
  leftOut: batches.flatMap(({ leftOut }) => leftOut),
  unreadable: batches.flatMap(({ unreadable }) => unreadable),
});
