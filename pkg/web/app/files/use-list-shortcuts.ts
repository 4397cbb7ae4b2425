import { isAbort } from '../../api/problem.ts';
import { toasts } from '../../design/toast.tsx';
import { count, t } from '../../text/files.ts';
import { failureToast } from '../failure-toast.ts';
import { IS_MAC } from '../shell/shortcuts.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { clip } from './clipboard.ts';
import { type Entry, isMovable } from './entry.ts';
import type { FileActions } from './use-file-actions.tsx';

interface Wants {
  readonly actions: FileActions;
  readonly isTrash: boolean;
  /** The reader's role lets them change files at all. */
  readonly mayWrite: boolean;
  readonly folderId: string | null | undefined;
  /** What a key is for: all that is selected, or the entry with the focus. */
  readonly meant: (entry: Entry | undefined) => Promise<readonly Entry[]>;
  readonly onRename: (entry: Entry) => void;
  readonly onDetails: (entry: Entry) => void;
}

/** Returns what the keys of a list do, and puts them into the list of shortcuts. */
export function useListShortcuts(wants: Wants): (event: KeyboardEvent, entry: Entry | undefined) => void {
  const { actions, isTrash, mayWrite, folderId, meant, onRename, onDetails } = wants;
  const paste = (): void => {
    const held = clip.value;
    if (!held || folderId === undefined || isTrash) return;
    actions.paste(held, folderId);
    if (held.kind === 'cut') clip.set(undefined);
  };
  /** Returns those that may be renamed, moved and deleted; says so if there are none. */
  const changeable = (entries: readonly Entry[]): readonly Entry[] => {
    const free = mayWrite ? entries.filter(isMovable) : [];
    if (entries.length > 0 && free.length === 0) toasts.show({ text: t('readOnly') });
    return free;
  };
  const take = async (kind: 'cut' | 'copy', entry: Entry | undefined): Promise<void> => {
    const entries = kind === 'copy' ? await meant(entry) : changeable(await meant(entry));
    if (entries.length === 0) return;
    clip.set({ kind, entries });
    toasts.show({ text: kind === 'cut' ? count('cutDone', entries.length) : count('copyDone', entries.length) });
  };
  useShortcuts(
    {
      title: t('title'),
      shortcuts: [
        { keys: 'Enter', label: t('open') },
        { keys: ' ', label: t('keySelect') },
        { keys: 'Mod+a', label: t('selectAll') },
        ...(isTrash
          ? []
          : [
              { keys: 'F2', label: t('rename') },
              { keys: 'Delete', label: t('delete') },
              { keys: 'Mod+x', label: t('cut') },
              { keys: 'Mod+c', label: t('copy') },
              { keys: 'Mod+v', label: t('paste'), run: paste },
              { keys: `${IS_MAC ? 'Alt' : 'Ctrl'}+${t('keyDrag')}`, label: t('dragCopy') },
              { keys: 'Alt+Enter', label: t('details') },
            ]),
      ],
    },
    [isTrash, folderId],
  );
  return (event, entry) => {
    const isMod = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const does = (action: () => unknown): void => {
      event.preventDefault();
      void (async () => action())().catch((error: unknown) => {
        // The person has left the list.
        if (!isAbort(error)) failureToast(error);
      });
    };
    if (isTrash) return;
    if (event.key === 'F2' && entry) does(() => changeable([entry]).forEach(onRename));
    else if (event.key === 'Delete') does(async () => actions.trash(changeable(await meant(entry))));
    else if (isMod && (key === 'x' || key === 'c') && !event.shiftKey) does(() => take(key === 'x' ? 'cut' : 'copy', entry));
    else if (event.altKey && event.key === 'Enter' && entry) does(() => onDetails(entry));
  };
}
