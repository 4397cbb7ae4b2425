import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nameFault, normalName } from '../model/names/names.policy.ts';
import { attachment } from './disposition.policy.ts';

test.each([
  ['report.pdf', 'attachment; filename="report.pdf"'],
  ['a b.txt', 'attachment; filename="a b.txt"'],
  ['na"ïve%.txt', `attachment; filename="na__ve_.txt"; filename*=UTF-8''na%22%C3%AFve%25.txt`],
  ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"`],
  ['отчёт.pdf', `attachment; filename="_____.pdf"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf`],
  ['😀.png', `attachment; filename="_.png"; filename*=UTF-8''%F0%9F%98%80.png`],
])('a download of %j says %s', (name, header) => {
  expect(attachment(name)).toBe(header);
});

test('a client decodes the original name from the header, and the header is printable ASCII', () => {
  const names = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .map(normalName)
    .filter((name) => nameFault(name) === null);
  fc.assert(
    fc.property(names, (name) => {
      const header = attachment(name);
      expect(header).toMatch(/^[\x20-\x7e]+$/);
      const extended = /filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]+)$/.exec(header)?.[1];
      expect(extended === undefined ? /filename="(.*)"$/.exec(header)?.[1] : decodeURIComponent(extended)).toBe(name);
    }),
  );
});
