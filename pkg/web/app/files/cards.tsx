import { useEffect } from 'preact/hooks';
import { Checkbox } from '../../design/checkbox.tsx';
import { classes } from '../../design/classes.ts';
import { EndlessList } from '../../design/endless-list.tsx';
import { EVERYTHING, isSelected, type Selection, selectionOf, toggled } from '../../design/grid/selection.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Menu, type MenuItems } from '../../design/menu.tsx';
import { t } from '../../text/files.ts';
import type { Entry } from './entry.ts';
import { OpenName } from './open-name.tsx';
import { RenameField } from './rename-field.tsx';
import { Thumbnail } from './thumbnails/thumbnail.tsx';
import './cards.css';
import type { Entries } from './use-entries.ts';

interface Props {
  readonly label: string;
  readonly entries: Entries;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
  readonly onOpen: (entry: Entry) => void;
  readonly onMenu: (entry: Entry, at: { readonly x: number; readonly y: number }) => void;
  readonly onKey: (event: KeyboardEvent, entry: Entry | undefined) => void;
  readonly menuOf: (entry: Entry) => MenuItems;
  readonly attributes: (entry: Entry) => Readonly<Record<string, unknown>>;
  readonly renamed: string | undefined;
  readonly onRename: (entry: Entry, name: string) => Promise<void>;
  readonly onRenameEnd: () => void;
}

/** Entries as cards with pictures. The browser leaves out what is not on the screen (`content-visibility`). */
export function Cards(props: Props) {
  const { label, entries, selection, onSelection, onOpen, onMenu, onKey, menuOf, attributes, renamed } = props;
  const { rows, list, isLoading, problem } = entries;
  useEffect(() => entries.seen(0, Math.min(rows.count, 40)), [rows]);

  const press = (event: KeyboardEvent, entry: Entry): void => {
    if ((event.target as HTMLElement).closest('input:not([type=checkbox]), [role=menu]')) return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'a') {
      event.preventDefault();
      onSelection(EVERYTHING);
    } else onKey(event, entry);
  };
  const click = (event: MouseEvent, entry: Entry): void => {
    if ((event.target as HTMLElement).closest('button, input, label, a')) return;
    onSelection(event.ctrlKey || event.metaKey ? toggled(selection, entry.id) : selectionOf([entry.id]));
  };

  return (
    <EndlessList
      isMore={rows.next !== null}
      isLoading={isLoading}
      hasFailed={problem !== undefined}
      moreLabel={t('loadMore')}
      onMore={() => void list.more()}
    >
      <ul role="list" class="files-cards" aria-label={label}>
        {rows.loaded.map((entry) => {
          const isChosen = isSelected(selection, entry.id);
          return (
            <li
              key={entry.id}
              class={classes('files-card', isChosen && 'files-card-selected')}
              {...attributes(entry)}
              onClick={(event) => click(event, entry)}
              onDblClick={() => onOpen(entry)}
              onKeyDown={(event) => press(event, entry)}
              onContextMenu={(event) => {
                event.preventDefault();
                onMenu(entry, { x: event.clientX, y: event.clientY });
              }}
            >
              <Thumbnail entry={entry} />
              <span class="files-card-check">
                <Checkbox
                  isLabelHidden
                  label={t('select', { name: entry.name })}
                  isChecked={isChosen}
                  onChange={() => onSelection(toggled(selection, entry.id))}
                />
              </span>
              <span class="files-card-text">
                {renamed === entry.id ? (
                  <RenameField entry={entry} onRename={props.onRename} onEnd={props.onRenameEnd} />
                ) : (
                  <OpenName entry={entry} onOpen={onOpen} />
                )}
                <span class="files-facts">
                  <DateTime value={entry.time} />
                </span>
              </span>
              <Menu
                label={t('actionsOf', { name: entry.name })}
                align="end"
                items={menuOf(entry)}
                trigger={(trigger) => (
                  <IconButton
                    icon="more"
                    size="s"
                    label={t('actionsOf', { name: entry.name })}
                    class="files-card-menu"
                    {...trigger}
                  />
                )}
              />
            </li>
          );
        })}
      </ul>
    </EndlessList>
  );
}
