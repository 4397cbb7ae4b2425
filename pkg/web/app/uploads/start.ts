import { Folders } from './folders.ts';
import { KeptUploads } from './kept.ts';
import { type Access, asking, pauseFor } from './request.ts';
import { Sender } from './sender.ts';
import { Uploader } from './uploader.ts';

interface Options {
  readonly access: Access;
  /** The id of the person who is signed in. */
  readonly person: string;
  readonly onDone: (folderId: string | null) => void;
}

/** Makes the uploads of this tab. They live as long as the page. */
export function uploaderFor({ access, person, onDone }: Options): Uploader {
  const ask = asking(access, (allowance) => {
    const pause = pauseFor(allowance, Date.now());
    if (pause > 0) uploader.queue.hold = { reason: 'busy', until: Date.now() + pause };
  });
  const sender = new Sender({ ask, folders: new Folders(ask) });
  const uploader = new Uploader({ sender, kept: new KeptUploads(person), now: () => Date.now(), onDone });
  if (!navigator.onLine) uploader.queue.hold = { reason: 'offline' };
  addEventListener('offline', () => (uploader.queue.hold = { reason: 'offline' }));
  addEventListener('online', () => uploader.queue.release('offline'));
  addEventListener('beforeunload', (event) => {
    if (uploader.queue.isUnderWay) event.preventDefault();
  });
  void uploader.restore();
  return uploader;
}
