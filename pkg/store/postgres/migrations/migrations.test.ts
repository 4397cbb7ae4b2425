import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Migration } from './migration.ts';
import { registryMigrations } from './registry/index.ts';
import { shardMigrations } from './shard/index.ts';
import { tenantMigrations } from './tenant/index.ts';

/** The hash of each migration's statements, both ways. A new migration adds a line here; no line changes. */
const FROZEN: Readonly<Record<string, string>> = {
  'tenant/0001-baseline': 'c6edfa90b6c6439c9d37ad33afa99c092ac4ac2562e3939f0abedee3f2eb0a5a',
  'tenant/0002-folder-shares': 'c92b0b438d2e715abbfc0930172a48d45a19198a5436985e0e059fb7144fed4c',
  'tenant/0003-settings': '110c00026f4557ec626670ab1dfca80e21ace995604901175c071738f852b10b',
  'tenant/0004-request-counts': 'dbb5dd8880b9de579e4266fc5bea40d51d4aa9f9efb8326a431a4b9d62a5c4c1',
  'tenant/0005-audit-of-resources': 'a73b5ab6972e3c9353ac54b1a69175174f11051ba29b13f23da5c422d7ec5f49',
  'shard/0001-baseline': '7d2333a506100f375f388f538939d3983fede8fb4a2f5d92805776309f02dd62',
  'registry/0001-baseline': '290836ddaf4eb4afdb716ee6c776a18d691c7c250a3386f5ea80699fa77c2c96',
};

const textOf = ({ up, down, loses = '' }: Migration<never>): string => {
  const context = { role: 'tenant_"x', tenantId: '7' } as never;
  return [up(context), down(context), loses].join('\0');
};

test('nobody has edited a migration: databases that have it would not notice, and new ones would differ', () => {
  const all = Object.entries({ tenant: tenantMigrations, shard: shardMigrations, registry: registryMigrations });
  const hashes = all.flatMap(([schema, migrations]) =>
    migrations.map((migration) => [
      `${schema}/${migration.name}`,
      createHash('sha256')
        .update(textOf(migration as Migration<never>))
        .digest('hex'),
    ]),
  );

  expect(Object.fromEntries(hashes)).toEqual(FROZEN);
});

test('migrations of one schema are listed in the order of their names, each of a name of its own', () => {
  for (const migrations of [tenantMigrations, shardMigrations, registryMigrations]) {
    const names = migrations.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].toSorted());
  }
});
