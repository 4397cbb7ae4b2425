import { KeptUploads } from '../uploads/kept.ts';
import { asking, pauseFor } from '../uploads/request.ts';
import { Uploader } from '../uploads/uploader.ts';
import type { Link, SharedFolder } from './link.ts';
import { LinkSender } from './link-sender.ts';
import { restoreFor, storedName } from './sender-name.ts';

export interface LinkUploads {
  readonly uploader: Uploader;
  readonly sender: LinkSender;
}

const started = new WeakMap<Link, LinkUploads>();

/** Returns the uploads of a page: one list, whichever folder is shown. */
export function uploadsBy(link: Link, folder: SharedFolder): LinkUploads {
  const uploads = started.get(link) ?? start(link, folder);
  started.set(link, uploads);
  return uploads;
}

/** The list holds while the browser is offline, and asks before the page is left. */
function start(link: Link, folder: SharedFolder): LinkUploads {
  const ask = asking({ headers: () => Promise.resolve(link.headers), refused: () => undefined }, (allowance) => {
    const pause = pauseFor(allowance, Date.now());
    if (pause > 0) uploader.queue.hold = { reason: 'busy', until: Date.now() + pause };
  });
  const sender = new LinkSender({ link, ask, folder });
  const kept = new KeptUploads(`link ${link.token}`, () => uploader.cannotKeep());
  const uploader = new Uploader({ sender, kept, now: () => Date.now() });
  const offline = (): void => void (uploader.queue.hold = { reason: 'offline' });
  if (!navigator.onLine) offline();
  addEventListener('offline', offline);
  addEventListener('online', () => uploader.queue.release('offline'));
  addEventListener('beforeunload', (event) => uploader.queue.isUnderWay && event.preventDefault());
  void restoreFor(storedName(), uploader);
  return { uploader, sender };
}
