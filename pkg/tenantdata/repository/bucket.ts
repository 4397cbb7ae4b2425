import { Readable } from 'node:stream';
import { ObjectMissing, Objects, type ObjectsOptions } from '../../store/s3/objects.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { type Repository, RepositoryError } from './repository.ts';

/** Up to this size a body of a known size is sent at once. */
const AT_ONCE_BYTES = 8 << 20;

/** A bucket, or the part of a bucket below a prefix. */
export class BucketRepository implements Repository {
  readonly name: string;
  readonly #objects: Objects;

  constructor(options: ObjectsOptions) {
    this.name = `s3://${options.bucket}/${options.prefix ?? ''}`;
    this.#objects = new Objects(options);
  }

  async put(name: string, body: Readable | Buffer, size?: number): Promise<void> {
    const isSmall = !Buffer.isBuffer(body) && size !== undefined && size <= AT_ONCE_BYTES;
    const bytes = isSmall ? Buffer.concat((await body.toArray()) as Buffer[]) : body;
    await this.#asked(() => this.#objects.put(name, bytes, size === undefined ? {} : { contentLength: size }));
  }

  async get(name: string): Promise<Readable> {
    return (await this.#asked(() => this.#objects.get(name))).body;
  }

  async *list(prefix: string): AsyncGenerator<{ name: string; size: number }> {
    const pages = this.#objects.list({ prefix });
    for (;;) {
      const next = await this.#asked(() => pages.next());
      if (next.done) return;
      yield { name: next.value.key, size: next.value.size };
    }
  }

  async delete(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#asked(() => this.#objects.delete(names));
  }

  close(): void {
    this.#objects.close();
  }

  /** Adds the bucket's name to errors of the store: a tenant's storage uses the same words. */
  async #asked<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ObjectMissing) throw new RepositoryError(`${this.name}${error.key} is missing`, { cause: error });
      if (error instanceof StoreUnavailableError)
        throw new RepositoryError(`${this.name} does not answer: ${(error.cause as Error | undefined)?.message ?? ''}`, {
          cause: error,
        });
      if (error instanceof Error && '$metadata' in error)
        throw new RepositoryError(`${this.name}: ${error.name}: ${error.message}`, { cause: error });
      throw error;
    }
  }
}
