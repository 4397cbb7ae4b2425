import { expect, test } from '@jest/globals';
import { serializeError } from './log.ts';

test('an error is logged with its message, code and causes, and without its other fields', () => {
  const cause = new Error('the cause');
  const error = Object.assign(new Error('WRONGPASS', { cause }), {
    code: 'ERR',
    command: { name: 'hello', args: ['3', 'AUTH', 'admin', 'a password'] },
    parameters: ['a value'],
  });

  const line = serializeError(error);

  expect(line).toMatchObject({ type: 'Error', message: 'WRONGPASS: the cause', code: 'ERR' });
  expect(Object.keys(line).toSorted()).toEqual(['code', 'message', 'stack', 'type']);
  expect(JSON.stringify(line)).not.toMatch(/a password|a value/);
  expect(line.stack).toContain('caused by: Error: the cause');
});

test('each error of an AggregateError is serialized in the same way', () => {
  const secret = Object.assign(new Error('one'), { password: 'a password' });

  expect(serializeError(new AggregateError([secret, new TypeError('two')], 'both failed'))).toMatchObject({
    message: 'both failed',
    errors: [{ message: 'one' }, { type: 'TypeError', message: 'two' }],
  });
  expect(JSON.stringify(serializeError(new AggregateError([secret])))).not.toContain('a password');
});

test('a thrown value that is not an Error is not shown', () => {
  expect(serializeError({ password: 'a password' })).toEqual({
    type: 'object',
    message: 'a value that is not an Error was thrown',
    stack: '',
  });
});
