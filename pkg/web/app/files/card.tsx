import { useId } from 'preact/hooks';
import { Checkbox } from '../../design/checkbox.tsx';
import { classes } from '../../design/classes.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Menu, type MenuItems } from '../../design/menu.tsx';
import { t } from '../../text/files.ts';
import type { Entry } from './entry.ts';
import { OpenName } from './open-name.tsx';
import { RenameField } from './rename-field.tsx';
import { Thumbnail } from './thumbnails/thumbnail.tsx';

/** What a list of cards does with its cards. */
export interface CardActions {
  readonly onOpen: (entry: Entry) => void;
  readonly onMenu: (entry: Entry, at: { readonly x: number; readonly y: number }) => void;
  readonly menuOf: (entry: Entry) => MenuItems;
  readonly attributes: (entry: Entry) => Readonly<Record<string, unknown>>;
  readonly onRename: (entry: Entry, name: string) => Promise<void>;
  readonly onRenameEnd: () => void;
}

interface Props extends CardActions {
  readonly entry: Entry;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isRenamed: boolean;
  /** The keyboard is here: Tab reaches the card and what is in it. */
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
  readonly onClick: (event: MouseEvent) => void;
  readonly onDblClick: (event: MouseEvent) => void;
}

/** An entry as a card with a picture: a row of one cell. */
export function Card(props: Props) {
  const { entry, index, isSelected, isRenamed, isCurrent, onOpen, onMenu, menuOf } = props;
  const picture = useId();
  const text = useId();
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div role="row" aria-rowindex={index + 1} aria-selected={isSelected} class="files-card-row">
      <div
        role="gridcell"
        aria-labelledby={`${picture} ${text}`}
        data-card={index}
        tabIndex={tabIndex}
        class={classes('files-card', isSelected && 'files-card-selected')}
        {...props.attributes(entry)}
        onFocusIn={props.onFocus}
        onClick={props.onClick}
        onDblClick={props.onDblClick}
        onContextMenu={(event) => {
          event.preventDefault();
          onMenu(entry, { x: event.clientX, y: event.clientY });
        }}
      >
        <Thumbnail id={picture} entry={entry} />
        <span class="files-card-check">
          <Checkbox
            isLabelHidden
            label={t('select', { name: entry.name })}
            isChecked={isSelected}
            tabIndex={tabIndex}
            onChange={props.onToggle}
          />
        </span>
        <span id={text} class="files-card-text">
          {isRenamed ? (
            <RenameField entry={entry} onRename={props.onRename} onEnd={props.onRenameEnd} />
          ) : (
            <OpenName entry={entry} onOpen={onOpen} tabIndex={tabIndex} />
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
              tabIndex={tabIndex}
              {...trigger}
            />
          )}
        />
      </div>
    </div>
  );
}
