import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rangeApplies, selectRange } from './range.policy.ts';

describe('a Range header', () => {
  test.each([
    [undefined, 10, { kind: 'whole' }],
    ['bytes=0-0', 10, { kind: 'part', start: 0, end: 0 }],
    ['bytes=0-', 10, { kind: 'part', start: 0, end: 9 }],
    ['bytes=5-99999999999999999999999', 10, { kind: 'part', start: 5, end: 9 }],
    ['bytes=-3', 10, { kind: 'part', start: 7, end: 9 }],
    ['bytes=-30', 10, { kind: 'part', start: 0, end: 9 }],
    ['BYTES=2-3', 10, { kind: 'part', start: 2, end: 3 }],
    ['bytes=10-', 10, { kind: 'unsatisfiable' }],
    ['bytes=0-', 0, { kind: 'whole' }],
    ['bytes=0-0', 0, { kind: 'whole' }],
    ['bytes=0-1023', 0, { kind: 'whole' }],
    ['bytes=1-', 0, { kind: 'unsatisfiable' }],
    ['bytes=-0', 10, { kind: 'unsatisfiable' }],
    ['bytes=-5', 0, { kind: 'whole' }],
    ['bytes=5-2', 10, { kind: 'whole' }],
    ['bytes=0-1,4-5', 10, { kind: 'whole' }],
    ['bytes=-', 10, { kind: 'whole' }],
    ['bytes=a-b', 10, { kind: 'whole' }],
    ['bytes=--5', 10, { kind: 'whole' }],
    ['pages=1-2', 10, { kind: 'whole' }],
    ['', 10, { kind: 'whole' }],
  ])('%j of %d bytes selects %j', (header, size, selection) => {
    expect(selectRange(header, size)).toEqual(selection);
  });

  test('of any form never selects a byte outside the file', () => {
    const header = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.tuple(fc.option(fc.nat(3000), { nil: '' }), fc.option(fc.nat(3000), { nil: '' })).map(([a, b]) => `bytes=${a}-${b}`),
    );
    fc.assert(
      fc.property(header, fc.nat(2000), (text, size) => {
        const selection = selectRange(text, size);
        if (selection.kind !== 'part') return;
        expect(selection.start).toBeGreaterThanOrEqual(0);
        expect(selection.end).toBeGreaterThanOrEqual(selection.start);
        expect(selection.end).toBeLessThan(size);
      }),
    );
  });

  test('cuts the same bytes as a slice does', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.integer({ min: 1, max: 500 }), (start, length, size) => {
        const bytes = Buffer.alloc(size, 1).map((_, at) => at % 251);
        const selection = selectRange(`bytes=${start}-${start + length}`, size);
        const expected = bytes.subarray(start, start + length + 1);
        const got = selection.kind === 'part' ? bytes.subarray(selection.start, selection.end + 1) : Buffer.alloc(0);
        expect(Buffer.compare(got, expected)).toBe(0);
      }),
    );
  });
});

describe('If-Range', () => {
  test.each([
    [undefined, true],
    ['"abc"', true],
    ['W/"abc"', false],
    ['"abd"', false],
    ['Sat, 21 Nov 2026 11:00:00 GMT', false],
  ])('%j lets the range of "abc" through: %j', (ifRange, applies) => {
    expect(rangeApplies(ifRange, 'abc')).toBe(applies);
  });
});
