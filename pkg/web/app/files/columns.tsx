import { Badge } from '../../design/badge.tsx';
import { FileIcon, KindIcon } from '../../design/file-icon.tsx';
import type { Column } from '../../design/grid/grid-props.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { DateTime, FileSize } from '../../design/measures.tsx';
import { Menu, type MenuItems } from '../../design/menu.tsx';
import { t } from '../../text/files.ts';
import type { Entry } from './entry.ts';
import { OpenName } from './open-name.tsx';
import { RenameField } from './rename-field.tsx';

export const EntryIcon = ({ entry, size }: { readonly entry: Entry; readonly size?: 'm' | 'l' | 'xl' }) =>
  entry.type === 'folder' ? (
    <KindIcon kind="folder" label={t('folder')} size={size} />
  ) : (
    <FileIcon mimeType={entry.mimeType} name={entry.name} size={size} />
  );

interface Wants {
  /** The id of the entry whose name is a field now. */
  readonly renamed: string | undefined;
  readonly cut: ReadonlySet<string>;
  readonly onRename: (entry: Entry, name: string) => Promise<void>;
  readonly onRenameEnd: () => void;
  readonly onOpen: (entry: Entry) => void;
  readonly menuOf: (entry: Entry) => MenuItems;
  readonly isSortable: boolean;
  readonly isNarrow: boolean;
  /** More than the name: where it is, whose it is, when it goes for ever. */
  readonly extra?: 'path' | 'owner' | 'expires' | undefined;
}

/** The columns of a list of entries; on a phone the name and the menu. */
export function columnsOf(wants: Wants): Column<Entry>[] {
  const { isNarrow, isSortable, extra } = wants;
  const columns: (Column<Entry> | false)[] = [
    { key: 'name', label: t('name'), width: 'minmax(6rem, 1fr)', isSortable, cell: (entry) => <Name entry={entry} {...wants} /> },
    !isNarrow && extra === 'path' && { key: 'path', label: t('location'), width: 'minmax(6rem, 0.5fr)', cell: place },
    !isNarrow &&
      extra === 'owner' && { key: 'owner', label: t('owner'), width: '10rem', cell: ({ owner }) => ellipsis(owner.name) },
    !isNarrow && {
      key: 'time',
      label: extra === 'expires' ? t('deleted') : t('changed'),
      width: '9rem',
      isSortable,
      cell: ({ time }) => <DateTime value={time} />,
    },
    !isNarrow &&
      extra === 'expires' && {
        key: 'expires',
        label: t('expires'),
        width: '9rem',
        cell: ({ expiresAt }) => expiresAt && <DateTime value={expiresAt} />,
      },
    !isNarrow && {
      key: 'size',
      label: t('size'),
      width: '6.5rem',
      isSortable,
      isAtEnd: true,
      cell: ({ size }) => (size === null ? <span class="files-quiet">–</span> : <FileSize bytes={size} />),
    },
    {
      key: 'menu',
      label: t('actions'),
      isLabelHidden: true,
      width: '3.5rem',
      isAtEnd: true,
      cell: (entry) => (
        <Menu
          label={t('actionsOf', { name: entry.name })}
          align="end"
          items={wants.menuOf(entry)}
          trigger={(props) => (
            <IconButton icon="more" size="s" label={t('actionsOf', { name: entry.name })} tabIndex={-1} {...props} />
          )}
        />
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}

const ellipsis = (text: string) => (
  <span class="files-name" title={text}>
    {text}
  </span>
);

/** The path without the name itself, which stands beside it. */
const place = ({ path, name }: Entry) => ellipsis(path.slice(0, Math.max(0, path.length - name.length - 1)) || '/');

function Name({ entry, renamed, cut, onRename, onRenameEnd, onOpen, isNarrow }: Wants & { entry: Entry }) {
  return (
    <>
      <span class={cut.has(entry.id) ? 'files-icon files-cut' : 'files-icon'}>
        <EntryIcon entry={entry} />
      </span>
      {renamed === entry.id ? (
        <RenameField entry={entry} onRename={onRename} onEnd={onRenameEnd} />
      ) : (
        <span class="files-title">
          <OpenName entry={entry} onOpen={onOpen} tabIndex={-1} />
          {isNarrow && (
            <span class="files-facts">
              <DateTime value={entry.time} />
              {entry.size !== null && <FileSize bytes={entry.size} />}
            </span>
          )}
        </span>
      )}
      {entry.isSystem && <Badge>{t('course')}</Badge>}
    </>
  );
}
