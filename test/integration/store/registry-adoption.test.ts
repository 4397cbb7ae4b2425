import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import { newAdoptionToken } from '../../../pkg/store/postgres/adoption-token.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { type ClaimRequest, Registry } from '../../../pkg/store/postgres/registry.ts';
import { newSlug, ownerOf, request } from '../../support/data/claims.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { waitFor } from '../../support/wait.ts';

const { running, pool, registry } = storeSuite();

test('every claim reports an adoption until it is marked as finished, across crashes', async () => {
  const slug = newSlug();
  const { tenantId, isAdopting: atFirst } = await registry.claim(request(slug));
  await registry.retain(tenantId);

  const adopted = await registry.claim(request(slug));
  const again = await registry.claim(request(slug));
  await registry.endAdoption(tenantId);
  const later = await registry.claim(request(slug));

  expect([atFirst, adopted.isAdopting, again.isAdopting, later.isAdopting]).toEqual([false, true, true, false]);
});

const stranger = (slug: string, more: Partial<ClaimRequest> = {}): ClaimRequest =>
  request(slug, { owner: ownerOf(slug, 'uid-of-a-namespace-made-anew'), ...more });

/** A retained tenant. */
async function retained(): Promise<{ slug: string; tenantId: string }> {
  const slug = newSlug();
  const { tenantId } = await registry.claim(request(slug));
  await registry.retain(tenantId);
  return { slug, tenantId };
}

test('retained data are adopted by the same namespace and name, or with a token, and by nobody else', async () => {
  const { slug, tenantId } = await retained();

  await expect(registry.claim(stranger(slug))).rejects.toMatchObject({ name: 'SlugTaken', retained: true });
  await expect(registry.claim(stranger(slug, { adopt: tenantId }))).rejects.toMatchObject({
    name: 'AdoptionRefused',
    failures: 1,
  });
  expect(await registry.claim(request(slug))).toMatchObject({ tenantId, outcome: 'adopted', state: 'active' });
  await expect(newAdoptionToken(pool, slug, systemRandom)).rejects.toMatchObject({ name: 'NotRetained', state: 'active' });
  await registry.retain(tenantId);
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  const adopted = await registry.claim(stranger(slug, { adopt: token }));
  expect(adopted).toMatchObject({ tenantId, outcome: 'adopted', owner: stranger(slug).owner });
  await registry.markDeleting(tenantId);
  await expect(registry.claim(stranger(slug))).rejects.toMatchObject({ name: 'SlugTaken' });
  await registry.remove(tenantId);
  const fresh = await registry.claim(request(slug));
  expect(fresh.outcome).toBe('new');
  expect(Number(fresh.tenantId)).toBeGreaterThan(Number(tenantId));
});

test('another owner gets new credentials, but the data key that opens the rows stays', async () => {
  const { slug, tenantId } = await retained();
  const step = { from: null, to: null, isNew: true };
  await registry.ensureSecret(tenantId, 'redis', () => '{}');
  await registry.rotate(tenantId, 'redis', { ...step, value: { secret: 'redis', change: (value) => value } });
  for (const _again of [1, 2]) await registry.rotate(tenantId, 'data', step);
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  await registry.claim(stranger(slug, { adopt: token }));
  expect((await registry.find(slug))?.credentials).toEqual({ data: expect.objectContaining({ generation: 2, step: null }) });
});

test('an adoption token works once, for a day, for its own tenant, until another is made or the owner returns', async () => {
  const [first, second] = [await retained(), await retained()];
  const other = (name: string, adopt: string): ClaimRequest => stranger(first.slug, { owner: ownerOf(name, 'elsewhere'), adopt });
  const make = async (slug = first.slug): Promise<string> => (await newAdoptionToken(pool, slug, systemRandom)).token;

  const replaced = await make();
  const expired = await make();
  await pool.query('UPDATE registry.adoption_tokens SET expires_at = now() WHERE tenant_id = $1', [first.tenantId]);
  await expect(registry.claim(other('a', replaced))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  await expect(registry.claim(other('b', expired))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  await expect(registry.claim(other('c', await make(second.slug)))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  const outlived = await make();
  await registry.claim(request(first.slug));
  await registry.retain(first.tenantId);
  await expect(registry.claim(other('d', outlived))).rejects.toMatchObject({ name: 'AdoptionRefused' });
  const used = await make();
  const [row] = await pool.query<{ hash: string; hours: number }>(
    `SELECT token_hash AS hash, round(extract(epoch FROM expires_at - now()) / 3600)::int AS hours FROM registry.adoption_tokens
     WHERE tenant_id = $1`,
    [first.tenantId],
  );
  expect(used).toMatch(/^[\w-]{43}$/);
  expect(row).toEqual({ hash: createHash('sha256').update(used).digest('hex'), hours: 24 });
  expect(await registry.claim(other('e', used))).toMatchObject({ outcome: 'adopted' });
  await registry.retain(first.tenantId);
  await expect(registry.claim(other('f', used))).rejects.toMatchObject({ name: 'AdoptionRefused' });
});

test('a claim that fails for another reason does not use its adoption token up', async () => {
  const { slug } = await retained();
  const taken = newSlug();
  await registry.claim(request(taken));
  const { token } = await newAdoptionToken(pool, slug, systemRandom);

  const refused = registry.claim(stranger(slug, { adopt: token, hosts: [`${taken}.localhost`] }));

  await expect(refused).rejects.toMatchObject({ name: 'HostTaken' });
  expect(await registry.claim(stranger(slug, { adopt: token }))).toMatchObject({ outcome: 'adopted' });
});

test('wrong adoption tokens delay the next, per resource, at most 5 minutes; repeating the same one counts once', async () => {
  const { slug, tenantId } = await retained();
  const { token } = await newAdoptionToken(pool, slug, systemRandom);
  const give = async (adopt: string, name = 'guesser'): Promise<unknown> => {
    const claimed = await registry
      .claim(stranger(slug, { owner: ownerOf(name, 'elsewhere'), adopt }))
      .catch((error: Error) => error.name);
    if (claimed !== 'AdoptionRefused') return claimed;
    const [row] = await pool.query(
      `SELECT failures, extract(epoch FROM retry_at - failed_at)::int AS wait FROM registry.adoption_failures
       WHERE tenant_id = $1 AND name = $2`,
      [tenantId, name],
    );
    return row;
  };
  const waited = (): Promise<unknown> =>
    pool.query(
      `UPDATE registry.adoption_failures SET retry_at = retry_at - interval '5 minutes',
         failed_at = failed_at - interval '5 minutes'
     WHERE tenant_id = $1`,
      [tenantId],
    );

  const first = [await give('0'), await give('0'), await give(token)];
  const waits = [];
  for (let n = 1; n < 9; n += 1) {
    await waited();
    waits.push(await give(String(n)));
  }
  const another = await give('0', 'another');
  await waited();
  const same = await give('8');

  expect(first).toEqual([1, 1, 1].map((failures) => ({ failures, wait: 5 })));
  expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300].map((wait, index) => ({ failures: index + 2, wait })));
  expect(another).toEqual({ failures: 1, wait: 5 });
  expect(same).toEqual({ failures: 9, wait: 300 });
  expect(await give(token)).toMatchObject({ tenantId, outcome: 'adopted' });
});

test('a wrong adoption token that is given again takes no lock and writes nothing, also when its wait is over', async () => {
  const { slug, tenantId } = await retained();
  const wrong = stranger(slug, { adopt: 'wrong' });
  await expect(registry.claim(wrong)).rejects.toMatchObject({ name: 'AdoptionRefused', wasCompared: true });
  await expect(registry.claim({ ...wrong, adopt: 'other' })).rejects.toMatchObject({
    name: 'AdoptionRefused',
    wasCompared: false,
  });
  await pool.query(`UPDATE registry.adoption_failures SET retry_at = now() - interval '1 minute' WHERE tenant_id = $1`, [
    tenantId,
  ]);
  const seen: string[] = [];
  const observe = ({ sql }: { sql: string }): void => void seen.push(sql);
  const watched = new SqlPool({ url: running.postgres.operator, poolSize: 1, log: silentLogger, observe });
  const sealer = new Sealer([{ id: 'x', key: systemRandom.bytes(32) }], systemRandom);

  const again = new Registry({ pool: watched, sealer, clock: systemClock, random: systemRandom }).claim(wrong);

  await expect(again).rejects.toMatchObject({ name: 'AdoptionRefused', wasCompared: true, failures: 1 });
  await watched.close();
  expect(seen).toHaveLength(2);
  expect(seen.filter((sql) => /FOR UPDATE|INSERT|UPDATE|DELETE/.test(sql))).toEqual([]);
});

test('an adoption token requested during an adoption is not made, and none outlives a change of state', async () => {
  const { slug, tenantId } = await retained();
  const tokens = () => pool.query('SELECT token_hash FROM registry.adoption_tokens WHERE tenant_id = $1', [tenantId]);
  let asked: Promise<unknown> = Promise.resolve();

  await pool.transaction(async (tx) => {
    await tx.query(`UPDATE registry.tenants SET state = 'active' WHERE id = $1`, [tenantId]);
    asked = newAdoptionToken(pool, slug, systemRandom).catch((error: unknown) => error);
    await waitFor('the token to wait for the adopter', async () => {
      const [row] = await pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO registry.adoption_tokens%'`,
      );
      return row !== undefined;
    });
  });

  expect(await asked).toMatchObject({ name: 'NotRetained', state: 'active' });
  expect(await tokens()).toEqual([]);
  await registry.retain(tenantId);
  await newAdoptionToken(pool, slug, systemRandom);
  await registry.markDeleting(tenantId);
  expect(await tokens()).toEqual([]);
});
