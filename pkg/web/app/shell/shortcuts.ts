import { Observed } from '../../api/observed.ts';

/** A key, or keys pressed together, and what they do. */
export interface Shortcut {
  /** `KeyboardEvent.key` with its modifiers before it: `?`, `Delete`, `Mod+a` (Ctrl, on a Mac Command), `Shift+F10`. */
  readonly keys: string;
  readonly label: string;
  /** Undefined: the page or component that has the focus does it, and the list of shortcuts only names it. */
  readonly run?: ((event: KeyboardEvent) => void) | undefined;
}

/** The shortcuts under one heading of the list: those of the shell, and those of the shown route. */
export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

/** The shortcuts that are in force now. A route adds its own while it is shown. */
export class Shortcuts {
  readonly groups = new Observed<readonly ShortcutGroup[]>([]);
  readonly #isMac: boolean;

  constructor({ isMac }: { isMac: boolean }) {
    this.#isMac = isMac;
  }

  /** Returns the function that removes the group. */
  add(group: ShortcutGroup): () => void {
    this.groups.set([...this.groups.value, group]);
    return () => this.groups.set(this.groups.value.filter((one) => one !== group));
  }

  /** Runs the shortcut of a key; the last one added counts. In a field all keys are the browser's: they type, copy and paste. */
  press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || isText(event)) return;
    const pressed = this.keysOf(event);
    const found = this.groups.value
      .flatMap(({ shortcuts }) => shortcuts)
      .findLast(({ keys, run }) => run && (keys === pressed || (keys === event.key && !hasModifier(event))));
    if (!found?.run) return;
    event.preventDefault();
    found.run(event);
  }

  /** Returns the keys as they are printed on the keyboard. */
  shown(keys: string): readonly string[] {
    const names: Readonly<Record<string, string>> = this.#isMac ? { Mod: '⌘', Alt: '⌥', Shift: '⇧' } : { Mod: 'Ctrl' };
    return keys.split(/(?<=.)\+(?=.)/).map((key) => names[key] ?? ARROWS[key] ?? (key.length === 1 ? key.toUpperCase() : key));
  }

  /** Returns the keys that were pressed, as a shortcut names them. */
  keysOf(event: KeyboardEvent): string {
    const mod = this.#isMac ? event.metaKey : event.ctrlKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    return `${mod ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${event.shiftKey ? 'Shift+' : ''}${key}`;
  }
}

const ARROWS: Readonly<Record<string, string>> = { ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', ' ': 'Space' };

/** Shift may be what makes the character: `?` is Shift and another key on most keyboards. */
const hasModifier = (event: KeyboardEvent): boolean => event.ctrlKey || event.metaKey || event.altKey;

function isText({ target }: KeyboardEvent): boolean {
  const element = target as HTMLElement | null;
  return element?.isContentEditable === true || element?.matches?.(FIELDS) === true;
}

const FIELDS = 'textarea, select, input:not([type=checkbox], [type=radio], [type=button])';

export const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');
export const shortcuts = new Shortcuts({ isMac: IS_MAC });
