import { expect, test } from '@jest/globals';
import { addressAtHost, nextPage } from './next-link.policy.ts';

const PAGE = 'https://lms.example.org/ags/1/lineitems?type_id=3';
const NEXT = 'https://lms.example.org/ags/1/lineitems?type_id=3&from=2';
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

test.each([
  [`<${NEXT}>; rel="next"`],
  [`<${NEXT}>;rel=next`],
  [`<${NEXT}> ; REL = "Next"`],
  [`<${NEXT}>; rel="prefetch next"`],
  ['</ags/1/lineitems?type_id=3&from=2>; rel="next"'],
  ['<?type_id=3&from=2>; rel=next'],
  [`<${PAGE}>; rel="first", <${NEXT}>; rel="next", <${PAGE}>; rel="last"`],
  [`<${PAGE}>; title="a, <x>; rel=next"; rel="first", <${NEXT}>; rel="next"`],
  [`<${PAGE}>; title="a \\" rel=next"; rel=first,<${NEXT}>;rel=next`],
  [`<${NEXT}>; crossorigin; rel=next; rel=first`],
  [bytes(`<${PAGE}>; rel=“first”, <${PAGE}>; rel=“canonical”, <${NEXT}>; rel=“next”`)],
  [`  ,, <${NEXT}>; rel="next";`],
])('%s leads to the next page', (header) => {
  expect(nextPage(header, PAGE)).toBe(NEXT);
});

test('a header that stands twice is read as one', () => {
  expect(nextPage([`<${PAGE}>; rel="first"`, `<${NEXT}>; rel="next"`], PAGE)).toBe(NEXT);
});

test.each([
  [undefined],
  [''],
  ['next'],
  [`<${NEXT}`],
  [`${NEXT}; rel="next"`],
  [`<${NEXT}>`],
  [`<${NEXT}>; rel="nextish"`],
  [`<${NEXT}>; rel="prev"; rel="next"`],
  [`<${NEXT}>; title="next"`],
  [`<${NEXT}>; rel="next"; anchor="https://lms.example.org/other"`],
])('%s leads to none', (header) => {
  expect(nextPage(header, PAGE)).toBeUndefined();
});

test('a hostile header is read in a moment', () => {
  const before = process.cpuUsage();
  for (const piece of ['<', '<a>', '<a>;', ';rel="', '<a>; rel="\\', '; =', ' ;\t'])
    nextPage(piece.repeat(16_384 / piece.length), PAGE);
  // CPU time does not include other programs on a busy machine.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});

test.each([
  ['https://lms.example.org/other?a=b', 'https://lms.example.org/other?a=b'],
  ['http://lms.example.org/other', 'https://lms.example.org/other'],
  ['https://LMS.example.org:443/a#b', 'https://lms.example.org/a'],
  ['https://elsewhere.example.org/a', undefined],
  ['https://lms.example.org:8443/a', undefined],
  ['https://lms.example.org@elsewhere.example.org/', undefined],
  ['https://ada:secret@lms.example.org/a', undefined],
  ['http://127.0.0.1/a', undefined],
  ['file:///etc/passwd', undefined],
  ['/relative', undefined],
  [`https://lms.example.org/${'x'.repeat(2048)}`, undefined],
])('the address %.60s is asked as %s', (address, asked) => {
  expect(addressAtHost(address, PAGE)).toBe(asked);
});

test('https is never given up for http', () => {
  expect(addressAtHost('https://lms.example.org/a', 'http://lms.example.org/b')).toBeUndefined();
});
