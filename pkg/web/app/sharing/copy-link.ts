import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/sharing.ts';

/** Copies the address of a link and says so; returns false where the browser does not let the page copy. */
export async function copyLink(url: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(url);
  } catch {
    return false;
  }
  toasts.show({ text: t('copied'), tone: 'success' });
  return true;
}
