import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';
import { type Anchor, usePopover } from './popover.ts';
import { isTyped, TypeAhead } from './type-ahead.ts';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName | undefined;
  /** The keys that do the same, as they are shown: "Ctrl+C". */
  readonly shortcut?: string | undefined;
  readonly isDanger?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  /** For one of several that exclude each other. */
  readonly isChecked?: boolean | undefined;
  readonly onSelect: () => void;
}

/** A list of commands; `separator` is a line between two groups of them. */
export type MenuItems = readonly (MenuItem | 'separator')[];

interface ListProps {
  readonly label: string;
  readonly items: MenuItems;
  readonly anchor: Anchor;
  readonly align?: 'start' | 'end' | undefined;
  readonly onClose: () => void;
}

/**
 * An open menu at an anchor: the menu of a button, or of a click with the right button. The arrows go around, letters search,
 * Escape and Tab close.
 */
export function MenuList({ label, items, anchor, align = 'start', onClose }: ListProps) {
  const list = usePopover(anchor, align, onClose);
  const search = useRef(new TypeAhead()).current;
  const commands = items.filter((item) => item !== 'separator');
  const buttons = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  // Before it is painted: who sees it may press a key at once.
  useLayoutEffect(() => (buttons().find((button) => button.ariaChecked === 'true') ?? buttons()[0])?.focus(), []);

  const move = (event: KeyboardEvent): void => {
    const all = buttons();
    const at = all.findIndex((button) => button === document.activeElement);
    const ways: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    const names = commands.map((item) => item.label);
    const isSearch = isTyped(event) && (event.key !== ' ' || search.isTyping(event.timeStamp));
    const target = ways[event.key] ?? (isSearch ? search.find(event.key, names, at, event.timeStamp) : undefined);
    if (event.key === 'Tab') onClose();
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all.at(target % all.length)?.focus();
  };

  return (
    <div ref={list} popover="auto" role="menu" aria-label={label} class="c-menu" onKeyDown={move}>
      {items.map((item, index) =>
        item === 'separator' ? (
          <div key={index} role="separator" class="c-menu-separator" />
        ) : (
          <Command key={item.label} item={item} onClose={onClose} />
        ),
      )}
    </div>
  );
}

function Command({ item, onClose }: { item: MenuItem; onClose: () => void }) {
  const select = (): void => {
    if (item.isDisabled) return;
    onClose();
    item.onSelect();
  };
  return (
    <button
      type="button"
      role={item.isChecked === undefined ? 'menuitem' : 'menuitemradio'}
      tabIndex={-1}
      class={classes('c-menu-item', item.isDanger && 'c-menu-danger')}
      onClick={select}
      onPointerEnter={({ currentTarget }) => currentTarget.focus()}
      {...(item.isChecked === undefined ? {} : { 'aria-checked': item.isChecked })}
      {...(item.isDisabled ? { 'aria-disabled': true } : {})}
    >
      {item.isChecked === undefined ? (
        item.icon && <Icon name={item.icon} />
      ) : (
        <span class="c-menu-check">{item.isChecked && <Icon name="check" />}</span>
      )}
      <span class="c-menu-label">{item.label}</span>
      {item.shortcut !== undefined && (
        <span class="c-menu-shortcut" aria-hidden="true">
          {item.shortcut}
        </span>
      )}
    </button>
  );
}

/** What the button of a menu must pass to its element. */
export interface TriggerProps {
  readonly 'aria-haspopup': 'menu';
  readonly 'aria-expanded': boolean;
  readonly onClick: (event: MouseEvent) => void;
  readonly onPointerDown: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

interface Props {
  readonly label: string;
  readonly items: MenuItems;
  readonly align?: 'start' | 'end' | undefined;
  /** Draws the button: `(props) => <IconButton icon="more" label="More" {...props} />`. */
  readonly trigger: (props: TriggerProps) => ComponentChildren;
}

/** A button that opens a menu. */
export function Menu({ label, items, align, trigger }: Props) {
  const [anchor, setAnchor] = useState<Anchor>();
  const wasOpen = useRef(false);
  const open = (event: MouseEvent | KeyboardEvent): void => setAnchor((event.currentTarget as Element).getBoundingClientRect());
  return (
    <>
      {trigger({
        'aria-haspopup': 'menu',
        'aria-expanded': anchor !== undefined,
        // The browser has closed an open menu before the click arrives, which must not open it again.
        onPointerDown: () => (wasOpen.current = anchor !== undefined),
        onClick: (event) => {
          event.stopPropagation();
          if (!wasOpen.current) open(event);
          wasOpen.current = false;
        },
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          event.stopPropagation();
          open(event);
        },
      })}
      {anchor && <MenuList label={label} items={items} anchor={anchor} align={align} onClose={() => setAnchor(undefined)} />}
    </>
  );
}
