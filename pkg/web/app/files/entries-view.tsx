import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { Grid } from '../../design/grid/grid.tsx';
import type { Sorting } from '../../design/grid/grid-props.ts';
import { countOf, isEmpty, isSelected, kept, NOTHING, type Selection, selectionOf } from '../../design/grid/selection.ts';
import { announce } from '../../design/live-region.tsx';
import { NARROW, useMedia } from '../../design/media.ts';
import { MenuList } from '../../design/menu.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { count, t } from '../../text/files.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useMay } from '../services.ts';
import { useFirstView } from '../shell/first-view.ts';
import { useLater } from '../use-later.ts';
import { useObserved } from '../use-observed.ts';
import { clip } from './clipboard.ts';
import { columnsOf } from './columns.tsx';
import { dragProps, dropProps } from './drag.ts';
import { extensions } from './entry-actions.ts';
import { type Entry, idOf, isReadOnly, nameOf } from './entry.ts';
import { entryMenu } from './entry-menu.ts';
import { SelectionBar } from './selection-bar.tsx';
import { takesListFocus, wantListFocus } from './list-focus.ts';
import { type Meant, meantAlone, meantBy } from './meant.ts';
import type { Entries } from './use-entries.ts';
import type { FileActions } from './use-file-actions.tsx';
import { useListShortcuts } from './use-list-shortcuts.ts';

interface Props {
  readonly label: string;
  readonly entries: Entries;
  readonly actions: FileActions;
  readonly view: 'list' | 'cards';
  readonly onOpenFolder: (folder: Entry) => void;
  readonly empty: ComponentChildren;
  readonly extra?: 'path' | 'owner' | 'expires' | undefined;
  readonly isTrash?: boolean | undefined;
  /** The folder that is shown, into which is pasted; undefined: the list is of no folder. null: one's root. */
  readonly folderId?: string | null | undefined;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: ((key: string) => void) | undefined;
  readonly onShowFolder?: ((entry: Entry) => void) | undefined;
}

/** A list of entries with all that one does with them: selection, keys, menus, dragging, renaming, details. */
export function EntriesView(props: Props) {
  const { label, entries, actions, view, onOpenFolder, empty, extra, isTrash = false, folderId, sorting, onSort } = props;
  const { problem, isLoading, list, seen } = entries;
  const isNarrow = useMedia(NARROW);
  const cut = useObserved(clip);
  // The menus of the rows have what other parts add, also what is loaded after this was first shown.
  useObserved(extensions.actions);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [renamed, setRenamed] = useState<string>();
  // While somebody types a name the list stays as it is: a row that moves would lose the field's focus.
  const shown = useRef(entries.rows);
  if (renamed === undefined) shown.current = entries.rows;
  const rows = shown.current;
  const mayWrite = useMay('write:files');
  const [detailsOf, setDetailsOf] = useState<string>();
  // The first view has no room for them, and most people choose the list.
  const [Cards, loadCards] = useLater(async () => (await import('./cards.tsx')).Cards);
  useEffect(() => {
    if (view !== 'cards' || Cards) return undefined;
    const ask = (): void => void loadCards();
    ask();
    addEventListener('online', ask);
    return () => removeEventListener('online', ask);
  }, [view, Cards]);
  const [Details, loadDetails] = useLater(async () => (await import('./details/details.tsx')).Details);
  const [menu, setMenu] = useState<{ readonly entry: Entry; readonly x: number; readonly y: number }>();

  useEffect(() => setSelection(NOTHING), [list]);
  useEffect(() => {
    if (isEmpty(selection)) return;
    const ids = new Set(rows.loaded.map(idOf));
    setSelection((before) => kept(before, (id) => ids.has(id)));
  }, [rows]);
  const chosen = useMemo(() => meantBy(selection, { rows, chosen: actions.chosen }), [selection, rows, list]);
  const select = (next: Selection): void => {
    setSelection(next);
    // Open details follow what is selected.
    if (detailsOf !== undefined && next.kind === 'some' && next.ids.size === 1) setDetailsOf([...next.ids][0]);
    const number = countOf(next, rows.total);
    announce(number === undefined ? t('allSelected') : count('selected', number));
  };
  const setDetails = ({ id }: Entry): void => {
    void loadDetails().then((isLoaded) => isLoaded && setDetailsOf(id));
  };
  const details = detailsOf === undefined ? undefined : rows.loaded.find(({ id }) => id === detailsOf);
  const open = (entry: Entry): void => {
    if (isTrash) return;
    if (entry.type === 'folder') {
      wantListFocus();
      return onOpenFolder(entry);
    }
    const opener = extensions.opener.value;
    if (opener)
      opener(
        entry,
        rows.loaded.filter(({ type }) => type === 'file'),
      );
    else actions.download([entry], label);
  };
  /** An action on a selected entry is for all that are selected; on another one for that alone. */
  const meant = (entry: Entry): Meant => (chosen && isSelected(selection, entry.id) ? chosen : meantAlone(entry));
  const menuOf = (entry: Entry) =>
    entryMenu({
      entry,
      meant: meant(entry),
      list: label,
      actions,
      isTrash,
      mayWrite,
      onOpen: open,
      onRename: ({ id }) => setRenamed(id),
      onDetails: setDetails,
      onShowFolder: props.onShowFolder,
    });
  const onKey = useListShortcuts({
    actions,
    isTrash,
    mayWrite,
    folderId,
    meant: async (entry) => (isEmpty(selection) ? (entry ? [entry] : []) : actions.chosen(selection)),
    onRename: ({ id }) => setRenamed(id),
    onDetails: setDetails,
  });
  const openMenu = (entry: Entry, at: { readonly x: number; readonly y: number }): void => {
    if (!isSelected(selection, entry.id)) setSelection(selectionOf([entry.id]));
    setMenu({ entry, ...at });
  };
  const attributes = (entry: Entry) => ({
    ...(isTrash || !mayWrite || entry.isSystem ? {} : dragProps(() => meant(entry))),
    ...(isTrash || entry.type === 'file' || isReadOnly(entry)
      ? {}
      : dropProps(entry, (dropped, isCopy) => actions[isCopy ? 'copy' : 'move'](dropped, entry.id))),
  });
  const countId = useId();
  const shared = {
    label,
    describedBy: countId,
    rows,
    selection,
    onSelection: select,
    onOpen: open,
    onMenu: openMenu,
    onKey,
    onRange: seen,
  };
  const isBlank = rows.count === 0;
  const isThere = rows.next !== undefined;
  useFirstView(isThere || problem !== undefined);
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isThere && takesListFocus()) container.current?.querySelector<HTMLElement>('[role=grid] [tabindex="0"]')?.focus();
  }, [list, isThere]);

  return (
    <div ref={container} class="files-view">
      {chosen && (
        <SelectionBar
          list={label}
          chosen={chosen}
          actions={actions}
          isTrash={isTrash}
          mayWrite={mayWrite}
          mayChange={mayWrite && !chosen.loaded.some(isReadOnly)}
          onClear={() => select(NOTHING)}
        />
      )}
      {problem && <ProblemNote problem={problem} onRetry={() => void (rows.next === undefined ? list.more() : list.reload())} />}
      {((rows.next === undefined && isLoading) || (view === 'cards' && !Cards)) && (
        <Skeleton kind={view === 'list' ? 'rows' : 'cards'} rows={8} label={t('loading')} />
      )}
      {isBlank && !problem && !isLoading && empty}
      {isThere && !isBlank && (
        <div class="files-columns">
          {view === 'list' ? (
            <Grid
              {...shared}
              idOf={idOf}
              nameOf={nameOf}
              selectLabel={(name) => t('select', { name })}
              selectAllLabel={t('selectAll')}
              sorting={sorting}
              onSort={onSort}
              onEnd={() => list.end()}
              rowProps={attributes}
              columns={columnsOf({
                renamed,
                cut: new Set(cut?.kind === 'cut' ? cut.entries.map(idOf) : []),
                onRename: actions.rename,
                onRenameEnd: () => setRenamed(undefined),
                onOpen: open,
                menuOf,
                isSortable: onSort !== undefined,
                isNarrow,
                extra,
              })}
            />
          ) : (
            Cards && (
              <Cards
                {...shared}
                entries={{ ...entries, rows }}
                menuOf={menuOf}
                attributes={attributes}
                renamed={renamed}
                onRename={actions.rename}
                onRenameEnd={() => setRenamed(undefined)}
              />
            )
          )}
          {details && Details && (
            <Details
              entry={details}
              actions={actions}
              onClose={() => setDetailsOf(undefined)}
              onChange={() => void list.reload()}
            />
          )}
        </div>
      )}
      {rows.next !== undefined && !isBlank && (
        <p id={countId} class="files-quiet files-count">
          {rows.total === undefined ? count('loaded', rows.loaded.length) : count('items', rows.total)}
        </p>
      )}
      {menu && (
        <MenuList
          label={t('actionsOf', { name: menu.entry.name })}
          items={menuOf(menu.entry)}
          anchor={{ left: menu.x, right: menu.x, top: menu.y, bottom: menu.y }}
          onClose={() => setMenu(undefined)}
        />
      )}
      {actions.view}
    </div>
  );
}
