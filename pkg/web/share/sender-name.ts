import type { Hold } from '../uploads/queue.ts';
import type { Uploader } from '../uploads/uploader.ts';

/** The name stays for a reload; a browser may deny its storage. */
const NAME = 'carrel:sender';

export const storedName = (): string => {
  try {
    return sessionStorage.getItem(NAME) ?? '';
  } catch {
    return '';
  }
};

export const storeName = (name: string): void => {
  try {
    sessionStorage.setItem(NAME, name);
  } catch {
    // It lasts as long as the page.
  }
};

/** Nothing is sent without the name of its sender. */
export const UNNAMED: Hold = { reason: 'stopped', problem: { code: 'sender_missing', message: '' } };

/** Lists what a reload interrupted. Without a name nothing of it starts: the page asks for one first. */
export async function restoreFor(name: string, uploader: Uploader): Promise<void> {
  const isNamed = name.trim() !== '';
  if (!isNamed) uploader.queue.hold = UNNAMED;
  // Without what it kept, the page still uploads.
  await uploader.restore().catch(() => undefined);
  if (!isNamed && uploader.queue.ids.length === 0) uploader.queue.release('stopped');
}
