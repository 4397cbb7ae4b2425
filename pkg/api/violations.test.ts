import { expect, test } from '@jest/globals';
import { translateError } from '../store/postgres/errors.ts';
import { problemOfViolation } from './violations.ts';

const violation = (code: string, constraint: string): unknown =>
  translateError(Object.assign(new Error('refused'), { code, constraint, severity: 'ERROR' }));
const PROBLEMS = { tags_name_key: ['name_conflict', 'You have a tag of this name.'] } as const;

test('a violated unique constraint is its Problem', () => {
  const error = violation('23505', 'tags_name_key');

  expect(problemOfViolation(error, PROBLEMS)).toMatchObject({
    code: 'name_conflict',
    message: 'You have a tag of this name.',
    cause: error,
  });
});

test.each([
  ['another unique constraint', violation('23505', 'tags_pkey')],
  ['a foreign key', violation('23503', 'tags_name_key')],
  ['any other error', new Error('tags_name_key')],
])('%s stays what it is', (_, error) => {
  expect(problemOfViolation(error, PROBLEMS)).toBe(error);
});
