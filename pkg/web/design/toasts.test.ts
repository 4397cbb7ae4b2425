import { expect, test } from '@jest/globals';
import { Toasts } from './toasts.ts';

const textsOf = ({ shown }: Toasts): string[] => shown.map(({ text }) => text);

test('three toasts are shown, the newest last', () => {
  const toasts = new Toasts();
  for (const text of ['a', 'b', 'c', 'd']) toasts.show({ text });

  expect(textsOf(toasts)).toEqual(['b', 'c', 'd']);
});

test('a text that is shown already takes a new place and a new number', () => {
  const toasts = new Toasts();
  const first = toasts.show({ text: 'a' });
  toasts.show({ text: 'b' });
  const again = toasts.show({ text: 'a' });
  toasts.close(first);

  expect([textsOf(toasts), again > first]).toEqual([['b', 'a'], true]);
});

test('each of several deletions can be undone, though their toasts have the same text', () => {
  const toasts = new Toasts();
  const undone: number[] = [];
  for (const n of [1, 2, 3]) toasts.show({ text: 'a', action: { label: 'Undo', onSelect: () => undone.push(n) } });
  for (const { action } of toasts.shown) action?.onSelect();

  expect(undone).toEqual([1, 2, 3]);
});

test('a text without an action does not take the place of one that can be undone', () => {
  const toasts = new Toasts();
  toasts.show({ text: 'a', action: { label: 'Undo', onSelect: () => undefined } });
  toasts.show({ text: 'a' });

  expect(toasts.shown.map(({ action }) => action?.label)).toEqual(['Undo', undefined]);
});

test('all toasts are closed at once, with what they offer', () => {
  const toasts = new Toasts();
  toasts.show({ text: 'a', action: { label: 'Undo', onSelect: () => undefined } });
  toasts.show({ text: 'b', tone: 'danger' });
  toasts.clear();

  expect(textsOf(toasts)).toEqual([]);
});

test('a toast that somebody holds stays when others come, also one of the same text', () => {
  const toasts = new Toasts();
  const held = toasts.show({ text: 'a', tone: 'danger', requestId: 'r-1' });
  toasts.hold(held, true);
  for (const text of ['b', 'a', 'c', 'd']) toasts.show({ text });
  const meanwhile = textsOf(toasts);
  toasts.hold(held, false);
  toasts.show({ text: 'e' });

  expect([meanwhile, textsOf(toasts)]).toEqual([
    ['a', 'c', 'd'],
    ['c', 'd', 'e'],
  ]);
});

test('readers learn of each change until they end it', () => {
  const toasts = new Toasts();
  const seen: number[] = [];
  const end = toasts.subscribe(() => seen.push(toasts.shown.length));
  const id = toasts.show({ text: 'a', tone: 'danger' });
  toasts.close(id);
  end();
  toasts.show({ text: 'b' });

  expect(seen).toEqual([1, 0]);
});
