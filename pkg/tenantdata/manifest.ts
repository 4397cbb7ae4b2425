import { z } from 'zod';
import type { SealingKey } from '../runtime/sealing.ts';
import { type Repository, RepositoryError, readWhole } from './repository/repository.ts';
import { signed } from './signature.ts';
import { MIB } from '../runtime/bytes.ts';

const Identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Migration = z.string().max(255);

const Table = z.object({
  /** `tenant`: a table of its schema; `shared`: its rows of a table that all tenants share. */
  of: z.enum(['tenant', 'shared']),
  name: Identifier,
  columns: z.array(Identifier).min(1).max(1_000),
  rows: z.int().min(0),
  /** Size of the rows in the text format of COPY; format 1 has none. */
  bytes: z.int().min(0).optional(),
  /** Hex SHA-256 of the rows in the text format of COPY. */
  sha256: Sha256,
});
export type BackedUpTable = z.output<typeof Table>;

/**
 * The contents of a backup. It is written last: without it there is no backup. Its signature covers it, and its checksums cover
 * all files of the backup.
 */
const Manifest = z.object({
  /** Format 1 had no signature. */
  format: z.enum(['carrel-backup/1', 'carrel-backup/2']),
  /** The name of the backup and of its folder; format 1 has none. */
  stamp: z.string().max(16).optional(),
  slug: z.string().max(63),
  tenantId: z.string().regex(/^\d{1,18}$/),
  /** The id of the installation, from the registry. */
  installation: z.string().max(100),
  /** RFC 3339: the moment of the rows and objects. */
  takenAt: z.iso.datetime(),
  /** Names of the migrations of the tenant's schema. */
  migrations: z.array(Migration).max(10_000),
  /** Names of the migrations of the tables that all tenants share. */
  sharedMigrations: z.array(Migration).max(10_000),
  tables: z.array(Table).max(1_000),
  /** `sha256` is the checksum of the list of objects, which has the SHA-256 of each. */
  objects: z.object({ count: z.int().min(0), bytes: z.int().min(0), sha256: Sha256 }),
  /** Keys of objects that rows name and the store did not have, at most 1,000. */
  missing: z.array(z.string().max(100)).max(1_000),
});
export type Manifest = z.output<typeof Manifest>;

const MANIFEST = 'manifest.json';
const STAMP = /^\d{8}T\d{6}Z$/;

/** Returns the name of a backup, such as `20261123T150301Z`. */
export const stampOf = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** Returns the names of the files of a tenant's backups. */
export const names = (slug: string) => ({
  root: `${slug}/`,
  /** Shared by all backups of the tenant: an object never changes, so each is stored once. */
  objects: `${slug}/objects/`,
  object: (key: string) => `${slug}/objects/${key}`,
  backup: (stamp: string) => `${slug}/${stamp}/`,
  manifest: (stamp: string) => `${slug}/${stamp}/${MANIFEST}`,
  table: (stamp: string, { of, name }: Pick<BackedUpTable, 'of' | 'name'>) => `${slug}/${stamp}/${of}/${name}.copy.gz`,
  /** The objects of a backup: a line for each, in the order of the keys. */
  list: (stamp: string) => `${slug}/${stamp}/objects.copy.gz`,
});

/** Returns all names of backups, finished or not, oldest first, each with its files. */
export async function stampsIn(repository: Repository, slug: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { name } of listedBelow(repository, slug)) {
    const stamp = name.split('/')[1] ?? '';
    if (STAMP.test(stamp)) found.set(stamp, [...(found.get(stamp) ?? []), name]);
  }
  return found;
}

/**
 * Lists the files of backups. Digits sort before letters, so the backups come before the objects, which are many and are not
 * read.
 */
async function* listedBelow(repository: Repository, slug: string): AsyncGenerator<{ name: string }> {
  for await (const entry of repository.list(names(slug).root)) {
    if (entry.name.startsWith(names(slug).objects)) return;
    yield entry;
  }
}

export const isFinished = (files: readonly string[]): boolean => files.some((name) => name.endsWith(`/${MANIFEST}`));

interface StoredManifest {
  readonly manifest: Manifest;
  /** The whole manifest as stored, with its signature (signature.ts). */
  readonly document: object;
}

/** Far above the size of a tenant's manifest: its tables take some 20 KiB, 1,000 missing objects 60. */
const MAX_BYTES = MIB;

/** Reads a manifest without checking its signature. Throws RepositoryError if it does not exist or is not one of this release. */
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
