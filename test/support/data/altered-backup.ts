import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

export interface AlteredManifest {
  format: string;
  stamp?: string;
  slug: string;
  tenantId: string;
  installation: string;
  migrations: string[];
  signature?: { key: string; hmac: string };
  objects: { sha256: string };
  tables: { of: string; name: string; columns: string[]; rows: number; bytes: number; sha256: string }[];
}

export function withoutSignature(manifest: AlteredManifest): AlteredManifest {
  const rest = { ...manifest };
  delete rest.signature;
  return rest;
}

/** A row as COPY writes it, by the names of its columns. */
export type Row = Record<string, string>;

/**
 * A backup in a folder, in the hands of somebody who can write there and has no key. Checksums are corrected; the signature is as
 * it was.
 */
export class AlteredBackup {
  /** The folder of the repository. */
  readonly folder: string;
  readonly slug: string;
  readonly stamp: string;

  private constructor(folder: string, slug: string, stamp: string) {
    this.folder = folder;
    this.slug = slug;
    this.stamp = stamp;
  }

  /** Opens a backup in a copy of the repository; without `stamp` the newest one. */
  static async of(repository: string, slug: string, stamp?: string): Promise<AlteredBackup> {
    const folder = await mkdtemp(`${repository}-altered-`);
    await cp(repository, folder, { recursive: true });
    return AlteredBackup.at(folder, slug, stamp);
  }

  /** In the repository itself. */
  static async at(folder: string, slug: string, stamp?: string): Promise<AlteredBackup> {
    const stamps = (await readdir(join(folder, slug))).filter((name) => /^\d{8}T/.test(name)).toSorted();
    return new AlteredBackup(folder, slug, stamp ?? stamps.at(-1) ?? '');
  }

  path(file: string): string {
    return join(this.folder, this.slug, this.stamp, file);
  }

  async manifest(change: (manifest: AlteredManifest) => void | AlteredManifest): Promise<void> {
    const manifest = JSON.parse(await readFile(this.path('manifest.json'), 'utf8')) as AlteredManifest;
    await writeFile(this.path('manifest.json'), JSON.stringify(change(manifest) ?? manifest));
  }

  /** `table` as its file is called: tenant/users. */
  async rows(table: string, change: (rows: Row[]) => Row[] | void): Promise<void> {
    const file = this.path(`${table}.copy.gz`);
    const lines = gunzipSync(await readFile(file))
      .toString('utf8')
      .split('\n')
      .slice(0, -1);
    let bytes = Buffer.alloc(0);
    await this.manifest((manifest) => {
      const known = manifest.tables.find(({ of, name }) => `${of}/${name}` === table);
      if (!known) throw new Error(`there is no ${table}`);
      const rows = lines.map((line) =>
        Object.fromEntries(line.split('\t').map((value, index) => [known.columns[index] ?? '', value])),
      );
      const changed = change(rows) ?? rows;
      bytes = Buffer.from(changed.map((row) => `${known.columns.map((column) => row[column]).join('\t')}\n`).join(''));
      Object.assign(known, { rows: changed.length, bytes: bytes.length, sha256: sha256(bytes) });
    });
    await writeFile(file, gzipSync(bytes));
  }

  /** The list of objects; the manifest too, where it is there already. */
  async list(change: (text: string) => string): Promise<void> {
    const file = this.path('objects.copy.gz');
    const bytes = Buffer.from(change(gunzipSync(await readFile(file)).toString('utf8')));
    await writeFile(file, gzipSync(bytes));
    if (existsSync(this.path('manifest.json'))) await this.manifest((manifest) => void (manifest.objects.sha256 = sha256(bytes)));
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
