import { expect, test } from '@jest/globals';
import { MAX_LEFT_HOSTS } from '../../../pkg/store/postgres/registry.ts';
import { newSlug, request, tally } from '../../support/data/claims.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';

const { pool, registry } = storeSuite();

test('one of 50 tenants that claim a host at once wins, and the others keep nothing of it', async () => {
  const host = `${newSlug()}.example.org`;
  const slugs = Array.from({ length: 50 }, newSlug);

  const results = await Promise.allSettled(
    slugs.map((slug) => registry.claim(request(slug, { hosts: [host, `${slug}.localhost`] }))),
  );

  expect(tally(results)).toEqual({ won: 1, HostTaken: 49 });
  expect(await pool.query('SELECT count(*) AS n FROM registry.hosts WHERE host = $1', [host])).toEqual([{ n: 1 }]);
  const refused = results.find((result) => result.status === 'rejected');
  expect(refused).toMatchObject({ reason: { host } });
});

test('a host that a tenant left is reserved while its sessions may live, and that tenant may have it again', async () => {
  const slug = newSlug();
  const [first, second] = [`${slug}.example.org`, `${slug}.example.com`];
  const { tenantId } = await registry.claim(request(slug, { hosts: [first] }));
  const claim = () => registry.claim(request(newSlug(), { hosts: [first] }));
  const leftAt = (ago: string) =>
    pool.query(`UPDATE registry.hosts SET left_at = now() - interval '${ago}' WHERE tenant_id = $1 AND host = $2`, [
      tenantId,
      first,
    ]);

  const moved = await registry.claim(request(slug, { hosts: [second] }));
  await expect(claim()).rejects.toThrow(
    `the host ${first} was left by another tenant; it is free 91 days after that, or once the data of that tenant are deleted`,
  );
  const back = await registry.claim(request(slug, { hosts: [first] }));
  await expect(claim()).rejects.toThrow(`the host ${first} belongs to another tenant`);
  await registry.claim(request(slug, { hosts: [second] }));
  await leftAt('90 days');
  await expect(claim()).rejects.toMatchObject({ name: 'HostTaken' });
  await leftAt('92 days');

  expect([moved.hosts, back.hosts]).toEqual([[second], [first]]);
  await expect(claim()).resolves.toMatchObject({ outcome: 'new', hosts: [first] });
  expect((await registry.find(slug))?.hosts).toEqual([second]);
});

test('a tenant that changes its hosts over and over keeps a bounded number of them from others', async () => {
  const slug = newSlug();
  const at = (turn: number) => registry.claim(request(slug, { hosts: [`${slug}-${turn}.example.org`] }));
  for (let turn = 0; turn <= MAX_LEFT_HOSTS; turn += 1) await at(turn);

  const refused = at(MAX_LEFT_HOSTS + 1);

  await expect(refused).rejects.toMatchObject({ name: 'HostsExceeded' });
  expect((await registry.find(slug))?.hosts).toEqual([`${slug}-${MAX_LEFT_HOSTS}.example.org`]);
  await expect(at(0)).resolves.toMatchObject({ hosts: [`${slug}-0.example.org`] });
});

test("hosts of a slug's own are taken from whoever holds them, whose sessions end first", async () => {
  const slug = newSlug();
  const hosts = [`${slug}.localhost`, `lti.${slug}.localhost`];
  const [active, kept] = [await registry.claim(request(newSlug(), { hosts: [hosts[0]!] })), newSlug()];
  const { tenantId } = await registry.claim(request(kept, { hosts: [hosts[1]!] }));
  await registry.retain(tenantId);
  const ended: string[] = [];
  const claim = (endSessions: (holder: { slug: string }) => Promise<unknown>) =>
    registry.claim(request(slug, { hosts, own: { hosts, endSessions } }));

  await expect(claim(() => Promise.reject(new Error('the shard is unavailable')))).rejects.toThrow('the shard is unavailable');
  const holds = await registry.find(active.slug);
  const claimed = await claim(async (holder) => ended.push(holder.slug));

  expect(holds?.hosts).toEqual([hosts[0]]);
  expect([claimed.hosts, ended]).toEqual([hosts.toSorted(), [active.slug]]);
  expect([(await registry.find(active.slug))?.hosts, (await registry.find(kept))?.hosts]).toEqual([[], []]);
});

test("hosts of data that are kept or are being removed are nobody else's, until the data are gone", async () => {
  const slug = newSlug();
  const host = `${slug}.example.org`;
  const { tenantId } = await registry.claim(request(slug, { hosts: [host] }));
  const claim = () => registry.claim(request(newSlug(), { hosts: [host] }));

  await registry.retain(tenantId);
  await expect(claim()).rejects.toThrow(
    `the host ${host} belongs to a deleted tenant whose data are retained; it is free once they are adopted or deleted`,
  );
  await registry.markDeleting(tenantId);
  await expect(claim()).rejects.toThrow(`the host ${host} belongs to a deleted tenant whose data are still being removed`);
  await registry.remove(tenantId);
  await expect(claim()).resolves.toMatchObject({ outcome: 'new', hosts: [host] });
});
