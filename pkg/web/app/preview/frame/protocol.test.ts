import { expect, test } from '@jest/globals';
import { messageOf } from './protocol.ts';
import { safeAddress } from './safe-address.ts';

test('the page believes only messages that the frame may send', () => {
  expect(messageOf({ type: 'ready', extra: 1 })).toEqual({ type: 'ready' });
  expect(messageOf({ type: 'key', key: 'Escape' })).toEqual({ type: 'key', key: 'Escape' });
  expect(messageOf({ type: 'link', href: 'https://example.org/a' })).toEqual({ type: 'link', href: 'https://example.org/a' });
  const refused = [
    null,
    'ready',
    {},
    { type: 'toString' },
    { type: 'key', key: 'Delete' },
    { type: 'key', key: {} },
    { type: 'needs' },
    { type: 'link', href: 'javascript:alert(1)' },
    { type: 'link', href: { toString: () => 'https://example.org' } },
  ];
  expect(refused.map(messageOf)).toEqual(refused.map(() => undefined));
});

test('only addresses of the web and of mail are opened', () => {
  expect(['HTTPS://Example.org', ' mailto:a@example.org ', 'http://x/?a=b'].map(safeAddress)).toEqual([
    'https://example.org/',
    'mailto:a@example.org',
    'http://x/?a=b',
  ]);
  const refused = ['javascript:alert(1)', 'java\nscript:1', 'data:text/html,x', 'file:///etc', '/files', 'https://', '#a', ''];
  expect(refused.map(safeAddress)).toEqual(refused.map(() => undefined));
});
