import { invalid, Problem } from '../../api/problem.ts';
import { type NewMetadata, VALUE_MAX_BYTES, type ValueType } from './metadata.schema.ts';

const IS_OF_TYPE: Readonly<Record<ValueType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  json: () => true,
};

/**
 * Returns a value as it is stored: text itself, everything else as its JSON. Throws `value_type_mismatch`, and
 * `validation_failed` for a value without a type that is no string, or is too long.
 */
export function storedValue({ value, value_type: type }: NewMetadata): { value: string; type: ValueType } {
  if (type === undefined && typeof value !== 'string')
    throw invalid('value', 'must be a string, or value_type must name its type');
  const named = type ?? 'string';
  if (!IS_OF_TYPE[named](value))
    throw new Problem('value_type_mismatch', `value: must be JSON of the type ${named}`, {
      details: [{ field: 'value', message: `must be JSON of the type ${named}` }],
    });
  const stored = named === 'string' ? (value as string) : JSON.stringify(value);
  if (Buffer.byteLength(stored) > VALUE_MAX_BYTES) throw invalid('value', `must be at most ${VALUE_MAX_BYTES} bytes`);
  return { value: stored, type: named };
}

/**
 * Returns the stored forms that a filter's value matches: the value itself and, for a number, its shortest form (`1.50` is
 * `1.5`).
 */
export function storedForms(value: string): { readonly text: string; readonly number: string | undefined } {
  const isNumber = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(value) && Number.isFinite(Number(value));
  const number = isNumber ? JSON.stringify(Number(value)) : value;
  return { text: value, number: number === value ? undefined : number };
}
