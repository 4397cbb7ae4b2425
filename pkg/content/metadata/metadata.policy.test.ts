import { describe, expect, test } from '@jest/globals';
import { Problem } from '../../api/problem.ts';
import { storedForms, storedValue } from './metadata.policy.ts';
import type { NewMetadata } from './metadata.schema.ts';

describe('a value', () => {
  test.each<[NewMetadata, { value: string; type: string }]>([
    [{ value: 'text' }, { value: 'text', type: 'string' }],
    [
      { value: '"', value_type: 'string' },
      { value: '"', type: 'string' },
    ],
    [
      { value: 12.5, value_type: 'number' },
      { value: '12.5', type: 'number' },
    ],
    [
      { value: 1e21, value_type: 'number' },
      { value: '1e+21', type: 'number' },
    ],
    [
      { value: false, value_type: 'boolean' },
      { value: 'false', type: 'boolean' },
    ],
    [
      { value: null, value_type: 'json' },
      { value: 'null', type: 'json' },
    ],
    [
      { value: 'text', value_type: 'json' },
      { value: '"text"', type: 'json' },
    ],
    [
      { value: { a: [1, null] }, value_type: 'json' },
      { value: '{"a":[1,null]}', type: 'json' },
    ],
    [{ value: '€'.repeat(21_845) }, { value: '€'.repeat(21_845), type: 'string' }],
  ])('%j is stored as %j', (input, stored) => expect(storedValue(input)).toEqual(stored));

  test.each<[NewMetadata, string]>([
    [{ value: 7 }, 'validation_failed'],
    [{ value: null }, 'validation_failed'],
    [{ value: 7, value_type: 'string' }, 'value_type_mismatch'],
    [{ value: null, value_type: 'string' }, 'value_type_mismatch'],
    [{ value: '7', value_type: 'number' }, 'value_type_mismatch'],
    [{ value: null, value_type: 'number' }, 'value_type_mismatch'],
    [{ value: 0, value_type: 'boolean' }, 'value_type_mismatch'],
    [{ value: 'true', value_type: 'boolean' }, 'value_type_mismatch'],
    [{ value: '€'.repeat(21_846) }, 'validation_failed'],
    [{ value: 'x'.repeat(65_535), value_type: 'json' }, 'validation_failed'],
  ])('of the form %j is %s', (input, code) => {
    const refused = ((): unknown => {
      try {
        return storedValue(input);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(Problem);
    expect((refused as Problem).code).toBe(code);
  });
});

test.each([
  ['1.50', '1.5'],
  ['1e2', '100'],
  ['-0', '0'],
  ['100', undefined],
  ['01', undefined],
  ['0x10', undefined],
  ['1e400', undefined],
  ['', undefined],
])('the filter %j finds numbers that are stored as %j', (text, number) => expect(storedForms(text)).toEqual({ text, number }));
