import { z } from 'zod';
import type { SealingKey } from '../runtime/sealing.ts';
import { type Repository, RepositoryError, readWhole } from './repository/repository.ts';
import { signed } from './signature.ts';

const Identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Migration = z.string().max(255);

const Table = z.object({
  /** `tenant`: of its schema; `shared`: its rows of a table that all tenants have. */
  of: z.enum(['tenant', 'shared']),
  name: Identifier,
  columns: z.array(Identifier).min(1).max(1_000),
  rows: z.int().min(0),
  /** Of the rows in the text format of COPY; format 1 has none. */
  bytes: z.int().min(0).optional(),
  /** Hex SHA-256 of the rows in the text format of COPY. */
  sha256: Sha256,
});
export type BackedUpTable = z.output<typeof Table>;

/**
 * What a backup holds. It is written last: without it there is no backup. Its signature covers it, and by its checksums all files
 * of the backup.
 */
const Manifest = z.object({
  /** Format 1 had no signature. */
  format: z.enum(['carrel-backup/1', 'carrel-backup/2']),
  /** The name of the backup, that is of its folder; format 1 has none. */
  stamp: z.string().max(16).optional(),
  slug: z.string().max(63),
  tenantId: z.string().regex(/^\d{1,18}$/),
  /** Of the registry. */
  installation: z.string().max(100),
  /** RFC 3339: the moment as of which rows and objects are. */
  takenAt: z.iso.datetime(),
  /** Names of the migrations that the tenant's schema had. */
  migrations: z.array(Migration).max(10_000),
  /** Those of the tables that all tenants share. */
  sharedMigrations: z.array(Migration).max(10_000),
  tables: z.array(Table).max(1_000),
  /** `sha256`: of their list, which has the SHA-256 of each. */
  objects: z.object({ count: z.int().min(0), bytes: z.int().min(0), sha256: Sha256 }),
  /** Keys of objects that rows name and the store did not have, at most 1,000. */
  missing: z.array(z.string().max(100)).max(1_000),
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

export interface StoredManifest {
  readonly manifest: Manifest;
  /** All of it as it is stored, with its signature (signature.ts). */
  readonly document: object;
}

/** Far above that of a tenant: its tables take some 20 KiB, 1,000 missing objects 60. */
const MAX_BYTES = 1 << 20;

/** Throws RepositoryError: there is none, or it is not one of this release. Whether its signature is right is not looked at. */
export async function readManifest(repository: Repository, slug: string, stamp: string): Promise<StoredManifest> {
  const name = names(slug).manifest(stamp);
  const text = (await readWhole(await repository.get(name), name, MAX_BYTES)).toString('utf8');
  const document = parsed(text);
  const read = Manifest.safeParse(document);
  if (!read.success) throw new RepositoryError(`${name} is damaged, or of a later release of Carrel`);
  return { manifest: read.data, document: document as object };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const writeManifest = (repository: Repository, manifest: Manifest & { stamp: string }, key: SealingKey): Promise<void> =>
  repository.put(
    names(manifest.slug).manifest(manifest.stamp),
    Buffer.from(`${JSON.stringify(signed(manifest, key), undefined, 2)}\n`),
  );
