import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { EndlessList } from '../../design/endless-list.tsx';
import {
  EVERYTHING,
  isEmpty,
  isSelected,
  NOTHING,
  rangeOf,
  type Selection,
  selectionOf,
  toggled,
} from '../../design/grid/selection.ts';
import { isTyped, TypeAhead } from '../../design/type-ahead.ts';
import { t } from '../../text/files.ts';
import { Card, type CardActions } from './card.tsx';
import { movedCard } from './card-moves.ts';
import { type Entry, nameOf } from './entry.ts';
import { useCardLines } from './use-card-lines.ts';
import type { Entries } from './use-entries.ts';
import './cards.css';

interface Props extends CardActions {
  readonly label: string;
  readonly describedBy: string;
  readonly entries: Entries;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
  readonly onKey: (event: KeyboardEvent, entry: Entry | undefined) => void;
  readonly renamed: string | undefined;
}

/** Where keys are text, or belong to what lies on top of the cards. */
const NOT_OURS = 'input:not([type=checkbox]), textarea, select, [role=menu], dialog';
const CONTROLS = 'a, button, input, label';

/**
 * Entries as cards with pictures, of which only those near the screen exist: `role="grid"`, with one card for the Tab key. The
 * arrows move, Space selects, Shift extends, Ctrl+A selects all, letters search, Enter opens.
 */
export function Cards(props: Props) {
  const { label, entries, selection, onSelection, onOpen, onMenu, renamed } = props;
  const { rows, isLoading, problem } = entries;
  const list = useRef<HTMLDivElement>(null);
  const search = useRef(new TypeAhead()).current;
  const [at, setAt] = useState(0);
  /** The card from which Shift extends. */
  const anchor = useRef(0);
  /** The focus is among the cards, and goes where `at` is. */
  const isFocused = useRef(false);
  /** The card of the first click of a double click: by the second one another may be there. */
  const clicked = useRef<string | undefined>(undefined);
  const loaded = useMemo(() => rows.loaded, [rows]);
  const lines = useCardLines(list, loaded.length);
  const { start, end } = lines;
  const cell = (index: number): HTMLElement | null | undefined =>
    list.current?.querySelector<HTMLElement>(`[data-card="${index}"]`);

  useEffect(() => entries.seen(start, end), [rows, start, end]);
  const focusedId = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    // A card that was renamed, or before which another came, takes the focus along.
    const index = focusedId.current === undefined ? -1 : loaded.findIndex(({ id }) => id === focusedId.current);
    setAt((before) => (index === -1 ? Math.max(0, Math.min(before, loaded.length - 1)) : index));
  }, [loaded]);
  useLayoutEffect(() => void (focusedId.current = loaded[at]?.id), [at, loaded]);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    // A field in a card keeps the focus; so does what somebody has gone to outside of the cards.
    if (!isFocused.current || focused?.closest(NOT_OURS)) return;
    if (focused !== document.body && !list.current?.contains(focused)) return;
    const current = cell(at);
    // A card that leaves the screen takes its element along: the list holds the focus for it.
    if (current && !current.contains(focused)) current.focus({ preventScroll: true });
    else if (!current && focused === document.body) list.current?.focus({ preventScroll: true });
  }, [at, start, end, loaded]);

  const extend = (to: number): void => onSelection(selectionOf(rangeOf(anchor.current, to, (index) => loaded[index]?.id)));
  const toggle = (index: number, { id }: Entry): void => {
    anchor.current = index;
    onSelection(toggled(selection, id));
  };
  const go = (to: number): void => {
    isFocused.current = true;
    setAt(to);
    lines.reveal(to);
  };
  const press = (event: KeyboardEvent): void => {
    const element = event.target as HTMLElement;
    if (event.defaultPrevented || element.closest(NOT_OURS)) return;
    const { key, shiftKey, altKey } = event;
    const isMod = event.ctrlKey || event.metaKey;
    const entry = loaded[at];
    const does = (action: () => void): void => {
      event.preventDefault();
      action();
    };
    const isRtl = list.current !== null && getComputedStyle(list.current).direction === 'rtl';
    const to = movedCard(at, key, isMod, { count: loaded.length, columns: lines.columns, page: lines.page, isRtl });
    // With Alt the arrows are the browser's.
    if (to !== undefined && !altKey)
      return does(() => {
        go(to);
        if (shiftKey) extend(to);
        else anchor.current = to;
      });
    const isOnControl = element.closest(CONTROLS) !== null;
    const isSpace = key === ' ' && !search.isTyping(event.timeStamp);
    if (isSpace && isOnControl) return;
    if (isSpace && entry) return does(() => (shiftKey ? extend(at) : toggle(at, entry)));
    if (isMod && key.toLowerCase() === 'a') return does(() => onSelection(EVERYTHING));
    if (key === 'Escape' && !isEmpty(selection)) return does(() => onSelection(NOTHING));
    if (key === 'Enter' && !altKey && entry && !isOnControl) return does(() => onOpen(entry));
    if (entry && (key === 'ContextMenu' || (shiftKey && key === 'F10'))) {
      const { left = 0, bottom = 0 } = cell(at)?.querySelector('.files-card-text')?.getBoundingClientRect() ?? {};
      return does(() => onMenu(entry, { x: left, y: bottom }));
    }
    // `/` and `?` are shortcuts of the page.
    if (!isTyped(event) || isSpace || !/[\p{L}\p{N} ]/u.test(key)) return props.onKey(event, entry);
    event.preventDefault();
    const found = search.find(key, loaded.map(nameOf), at, event.timeStamp);
    if (found !== undefined) go(found);
  };
  const click = (event: MouseEvent, index: number, { id }: Entry): void => {
    if (event.detail === 1) clicked.current = id;
    if ((event.target as HTMLElement).closest(CONTROLS)) return;
    if (event.shiftKey) return extend(index);
    anchor.current = index;
    onSelection(event.ctrlKey || event.metaKey ? toggled(selection, id) : selectionOf([id]));
  };

  return (
    <EndlessList
      isMore={rows.next !== null}
      isLoading={isLoading}
      hasFailed={problem !== undefined}
      moreLabel={t('loadMore')}
      onMore={() => void entries.list.more()}
    >
      <div
        ref={list}
        role="grid"
        class="files-cards"
        tabIndex={-1}
        aria-label={label}
        aria-describedby={props.describedBy}
        aria-rowcount={rows.total ?? -1}
        aria-colcount={1}
        aria-multiselectable="true"
        style={{ paddingBlockStart: `${lines.before}px`, paddingBlockEnd: `${lines.behind}px` }}
        onKeyDown={press}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget instanceof Node && !list.current?.contains(relatedTarget)) isFocused.current = false;
        }}
      >
        {loaded.slice(start, end).map((entry, offset) => {
          const index = start + offset;
          return (
            <Card
              key={entry.id}
              {...props}
              entry={entry}
              index={index}
              isSelected={isSelected(selection, entry.id)}
              isRenamed={renamed === entry.id}
              isCurrent={index === at}
              onFocus={() => {
                isFocused.current = true;
                setAt(index);
              }}
              onToggle={() => toggle(index, entry)}
              onClick={(event) => click(event, index, entry)}
              onDblClick={({ target }) => {
                if (clicked.current === entry.id && !(target as HTMLElement).closest(CONTROLS)) onOpen(entry);
              }}
            />
          );
        })}
      </div>
    </EndlessList>
  );
}
