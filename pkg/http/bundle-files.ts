import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookup } from 'mrmime';

/** The bytes of a file as one encoding sends them. */
interface Form {
  readonly body: Buffer;
  /** The entity tag with its quotes. */
  readonly etag: string;
}

interface BundleFile {
  readonly type: string;
  readonly plain: Form;
  /** By content coding (RFC 9110 §8.4.1); those that the build made. */
  readonly encoded: ReadonlyMap<string, Form>;
}

/** The content codings that the build makes, the smallest first, and the ends of their files' names. */
const CODINGS = { br: 'br', gzip: 'gz' } as const;

/**
 * The files of the built pages. Each is read when somebody asks for it first, and stays in memory: an idle server holds none, and
 * starts without reading them.
 */
export class BundleFiles {
  static readonly none = new BundleFiles('', new Set(), new Set());

  readonly #folder: string;
  /** Paths of requests. */
  readonly #paths: ReadonlySet<string>;
  /** What the folder holds, from it down. */
  readonly #present: ReadonlySet<string>;
  readonly #read = new Map<string, BundleFile>();

  private constructor(folder: string, paths: ReadonlySet<string>, present: ReadonlySet<string>) {
    this.#folder = folder;
    this.#paths = paths;
    this.#present = present;
  }

  /** `files`: those that may be served, from `folder` down. Throws if one is missing. */
  static in(folder: string, files: ReadonlySet<string>): BundleFiles {
    const present = new Set(readdirSync(folder, { recursive: true }).map((name) => String(name).replaceAll('\\', '/')));
    const missing = [...files].find((file) => !present.has(file));
    if (missing !== undefined) throw new Error(`${missing} is missing`);
    return new BundleFiles(folder, new Set([...files].map((file) => `/${file}`)), present);
  }

  /** Returns the file at the path of a request; undefined if there is none. Throws if it has gone since the server started. */
  read(path: string): BundleFile | undefined {
    if (!this.#paths.has(path)) return undefined;
    const known = this.#read.get(path);
    if (known) return known;
    const file = this.#fileOf(path.slice(1));
    this.#read.set(path, file);
    return file;
  }

  #fileOf(name: string): BundleFile {
    const type = lookup(name) ?? 'application/octet-stream';
    const encoded = Object.entries(CODINGS)
      .filter(([, end]) => this.#present.has(`${name}.${end}`))
      .map(([coding, end]) => [coding, this.#formOf(`${name}.${end}`)] as const);
    return {
      type: type.startsWith('text/') ? `${type}; charset=utf-8` : type,
      plain: this.#formOf(name),
      encoded: new Map(encoded),
    };
  }

  #formOf(name: string): Form {
    const body = readFileSync(join(this.#folder, name));
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
  }
}
