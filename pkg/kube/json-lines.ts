import { KubeError } from './errors.ts';
import { MIB } from '../runtime/bytes.ts';

/**
 * No object in etcd is larger than 1.5 MiB (its request limit). As JSON it may be several times larger, but anything of this size
 * is not a line of a watch.
 */
const MAX_LINE_BYTES = 32 * MIB;
const NEWLINE = 0x0a;

/**
 * Yields the JSON values of a stream, one per line. Throws KubeError (status 0) if the stream breaks, ends within a line, or
 * holds text that is not JSON or an unterminated line.
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        const line = Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8');
        parts = [];
        length = 0;
        start = end + 1;
        if (line.trim() !== '') yield parse(line);
      }
      if (start < chunk.length) {
        parts.push(chunk.subarray(start));
        length += chunk.length - start;
        if (length > MAX_LINE_BYTES) throw new Error('an unterminated line');
      }
    }
  } catch (error) {
    if (error instanceof KubeError) throw error;
    throw broken(error);
  }
  if (length > 0) throw broken(new Error('the stream ended within a line'));
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    throw broken(error);
  }
}

const broken = (error: unknown): KubeError =>
  new KubeError(0, 'Unreachable', `watch: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
