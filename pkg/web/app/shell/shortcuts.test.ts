import { expect, test } from '@jest/globals';
import { Shortcuts } from './shortcuts.ts';

/** A key that is pressed outside of a field, unless `fields` has one as its target. */
function key(name: string, fields: Partial<KeyboardEvent> = {}): KeyboardEvent {
  const event = { key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, target: null };
  return { ...event, ...fields, defaultPrevented: false, preventDefault: () => undefined } as unknown as KeyboardEvent;
}

function pressed(keys: readonly string[], event: KeyboardEvent, isMac = false): string[] {
  const run: string[] = [];
  const shortcuts = new Shortcuts({ isMac });
  shortcuts.add({ title: 'All', shortcuts: keys.map((one) => ({ keys: one, label: one, run: () => void run.push(one) })) });
  shortcuts.press(event);
  return run;
}

test.each([
  ['?', key('?', { shiftKey: true }), ['?']],
  ['a key with Ctrl', key('a', { ctrlKey: true }), ['Mod+a']],
  ['a key with Shift', key('F10', { shiftKey: true }), ['Shift+F10']],
  ['a key without its modifier', key('a'), []],
  ['a letter of an input method', key('?', { isComposing: true }), []],
])('%s runs what belongs to it', (_what, event, expected) => {
  expect(pressed(['?', 'Mod+a', 'Shift+F10'], event)).toEqual(expected);
});

test('in a field all keys are the browser’s, with Ctrl too: they type, copy and paste', () => {
  const target = { matches: (fields: string) => fields.includes('textarea') } as unknown as HTMLElement;

  expect(pressed(['?'], key('?', { shiftKey: true, target }))).toEqual([]);
  expect(pressed(['Mod+v'], key('v', { ctrlKey: true, target }))).toEqual([]);
});

test('on a Mac, Command takes the place of Ctrl', () => {
  expect(pressed(['Mod+a'], key('a', { metaKey: true }), true)).toEqual(['Mod+a']);
  expect(pressed(['Mod+a'], key('a', { ctrlKey: true }), true)).toEqual([]);
  expect(new Shortcuts({ isMac: true }).shown('Mod+a')).toEqual(['⌘', 'A']);
  expect(new Shortcuts({ isMac: false }).shown('Mod+ArrowUp')).toEqual(['Ctrl', '↑']);
});

test('the shortcuts of a route are in force only while it is shown, and win over those of the shell', () => {
  const run: string[] = [];
  const shortcuts = new Shortcuts({ isMac: false });
  const group = (title: string) => ({ title, shortcuts: [{ keys: 'n', label: title, run: () => void run.push(title) }] });
  shortcuts.add(group('shell'));
  const remove = shortcuts.add(group('route'));
  shortcuts.press(key('n'));
  remove();
  shortcuts.press(key('n'));

  expect(run).toEqual(['route', 'shell']);
});
