import { isAbort } from '../../api/problem.ts';
import { toasts } from '../../design/toast.tsx';
import { t } from '../../text/files.ts';
import { failureToast } from '../failure-toast.ts';
import { IS_MAC, type Shortcut, shortcuts } from '../shell/shortcuts.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { clip, take } from './clipboard.ts';
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

/** A key of a list. */
interface ListKey extends Shortcut {
  /** Done while the focus is in the list. Without it and `run`, the rows do it themselves, or drag.ts. */
  readonly does?: ((entry: Entry | undefined) => unknown) | undefined;
}

/** Returns what the keys of a list do, and puts the same ones into the list of shortcuts. */
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
  const isFolder = folderId !== undefined;
  const ofRows: readonly ListKey[] = [
    ...(isTrash ? [] : [{ keys: 'Enter', label: t('open') }]),
    { keys: ' ', label: t('keySelect') },
    { keys: 'Shift+ArrowDown', label: t('keyExtend') },
    { keys: 'Mod+a', label: t('selectAll') },
    { keys: 'Escape', label: t('clearSelection') },
    { keys: 'Shift+F10', label: t('keyMenu') },
  ];
  const ofEntries: readonly ListKey[] = [
    { keys: 'F2', label: t('rename'), does: (entry) => entry && changeable([entry]).forEach(onRename) },
    { keys: 'Delete', label: t('delete'), does: async (entry) => actions.trash(changeable(await meant(entry))) },
    { keys: 'Mod+x', label: t('cut'), does: async (entry) => take('cut', changeable(await meant(entry))) },
    { keys: 'Mod+c', label: t('keyCopy'), does: async (entry) => take('copy', await meant(entry)) },
    ...(isFolder ? [{ keys: 'Mod+v', label: t('paste'), run: paste }] : []),
    { keys: `${IS_MAC ? 'Alt' : 'Ctrl'}+${t('keyDrag')}`, label: t('dragCopy') },
    { keys: 'Alt+Enter', label: t('details'), does: (entry) => entry && onDetails(entry) },
  ];
  const keys = isTrash ? ofRows : [...ofRows, ...ofEntries];
  useShortcuts({ title: t('title'), shortcuts: keys }, [isTrash, folderId]);
  return (event, entry) => {
    const pressed = shortcuts.keysOf(event);
    const found = keys.find((key) => key.keys === pressed);
    if (!found?.does) return;
    event.preventDefault();
    void (async () => found.does?.(entry))().catch((error: unknown) => {
      // The person has left the list.
      if (!isAbort(error)) failureToast(error);
    });
  };
}
