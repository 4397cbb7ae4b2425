import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../text/shell.ts';
import { failureToast } from '../failure-toast.ts';
import { addEntryAction } from '../files/entry-actions.ts';
import type { Entry } from '../files/entry.ts';
import { useMay } from '../services.ts';
import { loadedLater } from '../use-later.ts';

type Dialog = ComponentType<{ readonly entry: Entry; readonly onClose: () => void }>;

/** Adds "Share" to the menu of what somebody may share. The dialog is loaded when it is first opened. */
export function Sharing() {
  const mayShare = useMay('share:files');
  const [shown, setShown] = useState<{
    readonly entry: Entry;
    readonly Dialog: Dialog;
    readonly done: (() => void) | undefined;
  }>();
  useEffect(() => {
    if (!mayShare) return undefined;
    const open = async (entry: Entry, done: (() => void) | undefined): Promise<void> => {
      try {
        const { ShareDialog } = await loadedLater(() => import('./share-dialog.tsx'));
        setShown({ entry, Dialog: ShareDialog, done });
      } catch (error) {
        failureToast(error);
      }
    };
    return addEntryAction({
      id: 'share',
      label: () => t('share'),
      icon: 'share',
      appliesTo: ({ access }) => access === 'admin',
      run: (entry, done) => void open(entry, done),
    });
  }, [mayShare]);
  const close = (): void => {
    setShown(undefined);
    shown?.done?.();
  };
  return shown ? <shown.Dialog entry={shown.entry} onClose={close} /> : null;
}
