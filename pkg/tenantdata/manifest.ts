import { z } from 'zod';
import { type Repository, RepositoryError, readWhole } from './repository/repository.ts';

const Table = z.object({
  /** `tenant`: of its schema; `shared`: its rows of a table that all tenants have. */
  of: z.enum(['tenant', 'shared']),
  name: z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/),
  columns: z.array(z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)),
  /** The column with a sequence, and the last value that it gave. */
  identity: z.object({ column: z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/), last: z.string().regex(/^\d+$/) }).nullable(),
  rows: z.int().min(0),
  /** Hex SHA-256 of the rows in the text format of COPY. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackedUpTable = z.output<typeof Table>;

/** What a backup holds. It is written last: without it there is no backup. */
const Manifest = z.object({
  format: z.literal('carrel-backup/1'),
  slug: z.string(),
  tenantId: z.string().regex(/^\d+$/),
  /** Of the registry. */
  installation: z.string(),
  /** RFC 3339: the moment as of which rows and objects are. */
  takenAt: z.iso.datetime(),
  /** Names of the migrations that the tenant's schema had. */
  migrations: z.array(z.string()),
  /** Those of the tables that all tenants share. */
  sharedMigrations: z.array(z.string()),
  tables: z.array(Table),
  objects: z.object({ count: z.int().min(0), bytes: z.int().min(0), sha256: z.string() }),
  /** Keys of objects that rows name and the store did not have, at most 1,000. */
  missing: z.array(z.string()).max(1_000),
});
export type Manifest = z.output<typeof Manifest>;

const MANIFEST = 'manifest.json';
const STAMP = /^\d{8}T\d{6}Z$/;

/** `20261123T150301Z`: the name of a backup. */
export const stampOf = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** The names below which a tenant's backups are. */
export const names = (slug: string) => ({
  root: `${slug}/`,
  /** Of all backups of the tenant: an object never changes, so each is kept once. */
  objects: `${slug}/objects/`,
  object: (key: string) => `${slug}/objects/${key}`,
  backup: (stamp: string) => `${slug}/${stamp}/`,
  manifest: (stamp: string) => `${slug}/${stamp}/${MANIFEST}`,
  table: (stamp: string, { of, name }: Pick<BackedUpTable, 'of' | 'name'>) => `${slug}/${stamp}/${of}/${name}.copy.gz`,
  /** The objects of a backup: a line for each, in the order of the keys. */
  list: (stamp: string) => `${slug}/${stamp}/objects.copy.gz`,
});

/** All names of backups, finished or not, oldest first, each with its files. */
export async function stampsIn(repository: Repository, slug: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { name } of listedBelow(repository, slug)) {
    const stamp = name.split('/')[1] ?? '';
    if (STAMP.test(stamp)) found.set(stamp, [...(found.get(stamp) ?? []), name]);
  }
  return found;
}

/** Digits come before letters, so the backups come before the objects, which are many and are not read. */
async function* listedBelow(repository: Repository, slug: string): AsyncGenerator<{ name: string }> {
  for await (const entry of repository.list(names(slug).root)) {
    if (entry.name.startsWith(names(slug).objects)) return;
    yield entry;
  }
}

export const isFinished = (files: readonly string[]): boolean => files.some((name) => name.endsWith(`/${MANIFEST}`));

/** Throws RepositoryError: there is none, or it is not one of this release. */
export async function readManifest(repository: Repository, slug: string, stamp: string): Promise<Manifest> {
  const text = (await readWhole(await repository.get(names(slug).manifest(stamp)))).toString('utf8');
  const read = Manifest.safeParse(parsed(text));
  if (!read.success) throw new RepositoryError(`${names(slug).manifest(stamp)} is damaged, or of a later release of Carrel`);
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const writeManifest = (repository: Repository, slug: string, stamp: string, manifest: Manifest): Promise<void> =>
  repository.put(names(slug).manifest(stamp), Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
