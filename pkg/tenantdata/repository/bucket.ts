import { Readable } from 'node:stream';
import { ObjectMissing, Objects, type ObjectsOptions } from '../../store/s3/objects.ts';
import { type Repository, RepositoryError } from './repository.ts';

/** Up to this size a body of a known size is sent at once. */
const AT_ONCE_BYTES = 8 << 20;

/** A bucket, or what is below a prefix of one. */
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
    await this.#objects.put(name, bytes, size === undefined ? {} : { contentLength: size });
  }

  async get(name: string): Promise<Readable> {
    try {
      return (await this.#objects.get(name)).body;
    } catch (error) {
      if (error instanceof ObjectMissing) throw new RepositoryError(`${this.name}${name} is missing`, { cause: error });
      throw error;
    }
  }

  async *list(prefix: string): AsyncGenerator<{ name: string; size: number }> {
    for await (const { key, size } of this.#objects.list({ prefix })) yield { name: key, size };
  }

  async delete(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#objects.delete(names);
  }

  close(): void {
    this.#objects.close();
  }
}
