import type { KeptUpload } from './kept.ts';
import type { Upload } from './queue.ts';
import { Refused } from './request.ts';
import type { Sender } from './sender.ts';
import { Uploader } from './uploader.ts';
import type { Batch, FoundFile } from './walk.ts';

type Steps = Parameters<Sender['send']>[1];

/** A call of the sender, which the test ends as it likes. */
interface Call {
  readonly upload: Upload;
  readonly steps: Steps;
  readonly succeed: (fileId?: string) => void;
  readonly fail: (code: string) => void;
  readonly crash: (error: Error) => void;
}

export const LARGE = 9 * 1024 * 1024;

/** An uploader whose requests the test answers. */
export function uploaderOf(interrupted: readonly KeptUpload[] = [], { isRepeatable = true, now = () => Date.now() } = {}) {
  const calls: Call[] = [];
  const discarded: string[] = [];
  const kept = new Map<string, Omit<KeptUpload, 'person' | 'tab'>>();
  const uploader = new Uploader({
    sender: {
      isRepeatable,
      send: (upload, steps) =>
        new Promise((resolve, reject) => {
          steps.signal.addEventListener('abort', () => reject(steps.signal.reason as Error));
          const fail = (code: string): void => reject(new Refused({ code, message: code }));
          calls.push({ upload: { ...upload }, steps, succeed: (fileId = 'file') => resolve(fileId), fail, crash: reject });
        }),
      discard: async (url) => void discarded.push(url),
    },
    kept: {
      put: (upload) => void kept.set(upload.key, upload),
      delete: (key) => void kept.delete(key),
      interrupted: async () => [...interrupted],
    },
    now,
  });
  return { uploader, calls, discarded, kept };
}

/** A file that claims a size. */
export const fileOf = (name: string, size = 1): File => {
  const file = new File(['x'], name, { lastModified: 1_000 });
  return Object.defineProperty(file, 'size', { value: size });
};

export const batchOf = (...files: readonly Partial<FoundFile>[]): Batch => ({
  files: files.map((found, n) => ({ path: [`${n}.txt`], file: fileOf(`${n}.txt`), ...found })),
  emptyFolders: [],
  leftOut: [],
  unreadable: [],
});

export const large = (name: string, more: Partial<FoundFile> = {}): Partial<FoundFile> => ({
  path: [name],
  file: fileOf(name, LARGE),
  ...more,
});

export const foundOf = (name: string): FoundFile => ({ path: [name], file: fileOf(name, LARGE) });

/** Lets all that is due run. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

export const keptOf = (more: Partial<KeptUpload> = {}): KeptUpload => ({
  key: 'kept',
  person: 'ada',
  tab: 'gone',
  order: 0,
  isFolder: false,
  state: 'waiting',
  requestKey: 'key',
  folderId: 'folder',
  path: ['film.mp4'],
  size: LARGE,
  lastModified: 1_000,
  onTaken: 'replace',
  url: '/uploads/1',
  keptAt: 0,
  ...more,
});
