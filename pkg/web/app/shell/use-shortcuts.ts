import { useEffect } from 'preact/hooks';
import { currentLanguage } from '../../text/language.ts';
import { type ShortcutGroup, shortcuts } from './shortcuts.ts';

/** Puts a group of shortcuts in force while the component is shown. `of`: the values that the functions of the group use. */
export function useShortcuts(group: ShortcutGroup, of: readonly unknown[]): void {
  useEffect(() => shortcuts.add(group), [...of, currentLanguage()]);
}
