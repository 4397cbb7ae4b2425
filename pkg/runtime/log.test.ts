import { expect, test } from '@jest/globals';
import { told } from './log.ts';

test('of an error its message, code and causes are told, and nothing of what it was given', () => {
  const cause = new Error('the cause');
  const error = Object.assign(new Error('WRONGPASS', { cause }), {
    code: 'ERR',
    command: { name: 'hello', args: ['3', 'AUTH', 'admin', 'a password'] },
    parameters: ['a value'],
  });

  const line = told(error);

  expect(line).toMatchObject({ type: 'Error', message: 'WRONGPASS: the cause', code: 'ERR' });
  expect(Object.keys(line).toSorted()).toEqual(['code', 'message', 'stack', 'type']);
  expect(JSON.stringify(line)).not.toMatch(/a password|a value/);
  expect(line.stack).toContain('caused by: Error: the cause');
});

test('of several errors each is told so', () => {
  const secret = Object.assign(new Error('one'), { password: 'a password' });

  expect(told(new AggregateError([secret, new TypeError('two')], 'both failed'))).toMatchObject({
    message: 'both failed',
    errors: [{ message: 'one' }, { type: 'TypeError', message: 'two' }],
  });
  expect(JSON.stringify(told(new AggregateError([secret])))).not.toContain('a password');
});

test('what is thrown and no Error is not shown', () => {
  expect(told({ password: 'a password' })).toEqual({ type: 'object', message: 'something that is no Error was thrown', stack: '' });
});
