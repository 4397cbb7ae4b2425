import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FolderNames, portableName, unpackedAs } from './archive-names.policy.ts';

describe('a name in an archive', () => {
  test.each([
    ['plan.txt', 'plan.txt'],
    ['y.', 'y_'],
    ['x ', 'x_'],
    ['Etc...', 'Etc___'],
    ['.profile', '.profile'],
    ['a<b>:"c|d?*.txt', 'a_b___c_d__.txt'],
    ['CON', 'CON_'],
    ['nul.txt', 'nul_.txt'],
    ['Aux .tar.gz', 'Aux_ .tar.gz'],
    ['lpt¹', 'lpt¹_'],
    ['conin$', 'conin$_'],
    ['console', 'console'],
    ['com10', 'com10'],
    ['nul-1.txt', 'nul-1.txt'],
  ])('%j is %j on all systems', (name, portable) => {
    expect(portableName(name)).toBe(portable);
  });

  test('is cut to the 255 bytes that Linux takes, between characters and before its extension', () => {
    const name = portableName(`${'長'.repeat(200)}.pdf`);
    expect([Buffer.byteLength(name), name.endsWith('長.pdf')]).toEqual([253, true]);
    expect(portableName('x'.repeat(255))).toBe('x'.repeat(255));
  });
});

describe('two names', () => {
  test.each([
    ['Plan.TXT', 'plan.txt'],
    ['straße', 'STRASSE'],
    ['é', 'e\u0301'],
    ['İ', 'i\u0307'],
    ['ΟΔΟΣ', 'οδος'],
    ['\u212A', 'k'],
    ['a\u200Db', 'ab'],
  ])('%j and %j unpack to one path somewhere', (one, other) => {
    expect(unpackedAs(one)).toBe(unpackedAs(other));
  });

  test.each([
    ['x²', 'x2'],
    ['plan', 'plan.txt'],
    ['a', 'ä'],
  ])('%j and %j do not', (one, other) => {
    expect(unpackedAs(one)).not.toBe(unpackedAs(other));
  });
});

describe('the names of a folder', () => {
  test('a taken one is the name with a number, as a conflict makes it', () => {
    const names = new FolderNames();
    expect(['plan', 'Plan', 'plan (1)', 'PLAN', 'a.txt', 'A.txt', 'a?', 'a*'].map((name) => names.give(name))).toEqual([
      'plan',
      'Plan (1)',
      'plan (1) (1)',
      'PLAN (2)',
      'a.txt',
      'A (1).txt',
      'a_',
      'a_ (1)',
    ]);
  });

  test('are distinct and portable whatever comes, and the same each time', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'A', 'a.', 'a ', 'a?', 'nul', 'NUL', 'a (1)', 'A (2)', '_', '.', '長'.repeat(100), '長'.repeat(101)),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }).filter((text) => !/[/\\\p{Cc}]/u.test(text)),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 60 }), (wanted) => {
        const names = new FolderNames();
        const given = wanted.map((one) => names.give(one));
        expect(new Set(given.map(unpackedAs)).size).toBe(given.length);
        for (const one of given) {
          expect(portableName(one)).toBe(one);
          expect(Buffer.byteLength(one)).toBeLessThanOrEqual(255);
        }
        const again = new FolderNames();
        expect(wanted.map((one) => again.give(one))).toEqual(given);
      }),
    );
  });

  test('take no longer for each of 20,000 that want one path', () => {
    const names = new FolderNames();
    const given = new Set<string>();
    const started = process.cpuUsage();
    for (let n = 0; n < 20_000; n += 1)
      given.add(names.give(n.toString(2).padStart(16, '0').replaceAll('0', '?').replaceAll('1', '*')));
    const { user } = process.cpuUsage(started);

    expect(given.size).toBe(20_000);
    expect(user / 1e6).toBeLessThan(10);
  });
});
