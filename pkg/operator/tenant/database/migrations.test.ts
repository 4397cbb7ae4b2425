import { expect, test } from '@jest/globals';
import { LockTimeout } from '../../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../../store/unavailable.ts';
import { Migrations } from './migrations.ts';

const fails = (): Promise<never> => Promise.reject(new Error('syntax error'));
const upgrade = (slug: string) => ({ slug, isUpgrade: true });

test('no more run at once than are allowed', async () => {
  const migrations = new Migrations({ concurrency: 3 });
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
  };

  await Promise.all(Array.from({ length: 20 }, (_, i) => migrations.run(upgrade(`t${i}`), work)));

  expect(most).toBe(3);
});

test('upgrades halt when they failed for several tenants; new tenants and those that failed are still tried', async () => {
  const migrations = new Migrations({ concurrency: 2 });
  for (const slug of ['a', 'b', 'c', 'd', 'e'])
    await expect(migrations.run(upgrade(slug), fails)).rejects.toThrow('syntax error');

  await expect(migrations.run(upgrade('f'), async () => 'done')).rejects.toThrow(
    'Waiting for schema upgrades to continue: they are halted',
  );
  expect(await migrations.run({ slug: 'new', isUpgrade: false }, async () => 'done')).toBe('done');
  expect(await migrations.run(upgrade('a'), async () => 'done')).toBe('done');
  expect(await migrations.run(upgrade('f'), async () => 'done')).toBe('done');
});

test.each([
  ['a database that is unavailable', new StoreUnavailableError('postgres', new Error('gone'))],
  ['a table that its tenant has locked', new LockTimeout('canceling statement due to lock timeout')],
])('%s counts for no failure', async (_what, error) => {
  const migrations = new Migrations({ concurrency: 2 });
  const fails = (): Promise<never> => Promise.reject(error);
  for (const slug of ['a', 'b', 'c', 'd', 'e']) await expect(migrations.run(upgrade(slug), fails)).rejects.toThrow(error.message);

  expect(await migrations.run(upgrade('f'), async () => 'done')).toBe('done');
});

test('upgrades go on when those that failed are deleted', async () => {
  const migrations = new Migrations({ concurrency: 2 });
  for (const slug of ['a', 'b', 'c', 'd', 'e'])
    await expect(migrations.run(upgrade(slug), fails)).rejects.toThrow('syntax error');

  migrations.remove('c');

  expect(await migrations.run(upgrade('f'), async () => 'done')).toBe('done');
});
