import type { MenuItem, MenuItems } from '../../design/menu.tsx';
import { t } from '../../text/files.ts';
import { take } from './clipboard.ts';
import { extensions, menuItemsOf } from './entry-actions.ts';
import { type Entry, isReadOnly } from './entry.ts';
import type { Meant } from './meant.ts';
import type { FileActions } from './use-file-actions.tsx';

interface Wants {
  /** The entry that was clicked, and all that the action is for. */
  readonly entry: Entry;
  readonly meant: Meant;
  /** The name of the list. */
  readonly list: string;
  readonly actions: FileActions;
  readonly isTrash: boolean;
  /** The reader's role lets them change files at all. */
  readonly mayWrite: boolean;
  readonly onOpen: (entry: Entry) => void;
  readonly onRename: (entry: Entry) => void;
  readonly onDetails: (entry: Entry) => void;
  /** Shows the folder in which it is, where the list is not of one folder. */
  readonly onShowFolder?: ((entry: Entry) => void) | undefined;
}

/** What can be done with an entry, or with all that are selected. */
export function entryMenu(wants: Wants): MenuItems {
  const { entry, meant, list, actions, isTrash, mayWrite, onOpen, onRename, onDetails, onShowFolder } = wants;
  const withAll = (action: (entries: readonly Entry[]) => unknown) => (): void => meant.withAll(action);
  if (isTrash)
    return [
      { label: t('restore'), icon: 'restore', onSelect: withAll(actions.restore) },
      'separator',
      { label: t('purge'), icon: 'trash', isDanger: true, onSelect: withAll(actions.purge) },
    ];
  const isOne = meant.count === 1;
  const isFixed = meant.loaded.some(({ isSystem }) => isSystem);
  const mayChange = mayWrite && !meant.loaded.some(isReadOnly);
  const items: (MenuItem | 'separator' | false)[] = [
    isOne && {
      label: t('open'),
      icon: entry.type === 'folder' ? 'folder' : 'eye',
      shortcut: t('keyEnter'),
      onSelect: () => onOpen(entry),
    },
    { label: t('download'), icon: 'download', onSelect: withAll((entries) => actions.download(entries, list)) },
    isOne && onShowFolder !== undefined && { label: t('showFolder'), icon: 'folder', onSelect: () => onShowFolder(entry) },
    ...(isOne ? menuItemsOf(extensions.actions.value, entry) : []),
    isOne && 'separator',
    isOne &&
      mayChange && { label: t('rename'), icon: 'edit', shortcut: 'F2', isDisabled: isFixed, onSelect: () => onRename(entry) },
    mayChange && {
      label: t('move'),
      icon: 'move',
      isDisabled: isFixed,
      onSelect: withAll((entries) => actions.askDestination('move', entries)),
    },
    mayWrite && { label: t('copy'), icon: 'copy', onSelect: withAll((entries) => actions.askDestination('copy', entries)) },
    mayChange && {
      label: t('cut'),
      icon: 'cut',
      isDisabled: isFixed,
      onSelect: withAll((entries) => take('cut', entries)),
    },
    isOne && { label: t('details'), icon: 'info', onSelect: () => onDetails(entry) },
    mayChange && 'separator',
    mayChange && {
      label: t('delete'),
      icon: 'trash',
      isDanger: true,
      isDisabled: isFixed,
      shortcut: t('keyDelete'),
      onSelect: withAll(actions.trash),
    },
  ];
  return items.filter((item) => item !== false);
}
