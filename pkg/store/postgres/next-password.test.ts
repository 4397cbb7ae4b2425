import { expect, test } from '@jest/globals';
import { withEitherPassword } from './next-password.ts';

const refused = (code: string): Error => Object.assign(new Error('refused'), { code });

/** A Postgres that has this password at the moment; the server's own is `first`. */
function server(valid: { password: string }) {
  const tried: string[] = [];
  const open = withEitherPassword(async (password = 'first') => {
    tried.push(password);
    if (password !== valid.password) throw refused('28P01');
    return password;
  }, 'next');
  return { open, tried };
}

test('the password that opened last is tried first', async () => {
  const valid = { password: 'first' };
  const { open, tried } = server(valid);

  await open();
  valid.password = 'next';
  await open();
  await open();

  expect(tried).toEqual(['first', 'first', 'next', 'next']);
});

test('if neither opens, the refusal is passed on; another failure tries no second password', async () => {
  const { open, tried } = server({ password: 'third' });
  let count = 0;
  const broken = withEitherPassword(() => Promise.reject(refused(`0800${(count += 1)}`)), 'next');

  await expect(open()).rejects.toThrow('refused');
  await expect(broken()).rejects.toThrow('refused');

  expect([tried, count]).toEqual([['first', 'next'], 1]);
});
