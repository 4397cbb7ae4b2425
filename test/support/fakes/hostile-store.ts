import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { range } from '../wait.ts';

/** The behaviour of a bucket. Whatever is left out works as in an empty store that keeps the marker. */
export interface Manners {
  /** `drips`: a byte now and then, so no silence ends it. */
  readonly marker?: 'drips';
  /** Pages of objects, or of uploads, each of them another one, slowly; and what deletes them answers slowly. */
  readonly endless?: 'keys' | 'strange keys' | 'uploads';
  /** A page of objects of 7.9 MiB, as much as a reply may have. */
  readonly listing?: 'huge';
}

/** A store that tenants name as theirs, by path style, at a private address. */
export interface HostileStore {
  readonly url: string;
  /** Requests so far for a bucket. */
  asked(bucket: string): number;
  /** Sets how a bucket answers from now on. */
  behave(bucket: string, manners: Manners): void;
  close(): Promise<void>;
}

/** Shorter than any silence that ends a download or a request. */
const SLOW_MS = 3_000;
const DAY = '20200101';
/** More objects than a page may have. */
const HUGE_PAGE_KEYS = 60_000;

export async function startHostileStore(): Promise<HostileStore> {
  const manners = new Map<string, Manners>();
  const markers = new Map<string, string>();
  const asked = new Map<string, number>();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://store');
    const [, bucket = '', ...key] = pathname.split('/');
    asked.set(bucket, (asked.get(bucket) ?? 0) + 1);
    const { marker, endless, listing } = manners.get(bucket) ?? {};
    const body = await text(request);
    if (key.join('/') === '.carrel-tenant') {
      if (request.method === 'PUT') markers.set(bucket, body);
      else if (request.method === 'GET' && marker === 'drips') return drip(response);
      else if (request.method === 'GET') {
        const found = markers.get(bucket);
        return void response.writeHead(found === undefined ? 404 : 200).end(found ?? '<Error><Code>NoSuchKey</Code></Error>');
      }
      return void response.end();
    }
    if (request.method === 'HEAD') return void response.end();
    if (endless) await slowly(response);
    if (request.method === 'DELETE') return void response.writeHead(204).end();
    response.writeHead(200, { 'content-type': 'application/xml' });
    if (searchParams.has('delete')) return void response.end('<DeleteResult/>');
    if (searchParams.has('uploads')) return void response.end(uploads(endless === 'uploads' ? 1 : 0));
    if (listing === 'huge') return void response.end(hugePage());
    const keys = endless === 'keys' || endless === 'strange keys' ? 1_000 : 0;
    response.end(page(range(keys).map((at) => (endless === 'keys' ? newContentKey(DAY, systemRandom) : `${DAY}/x${at}`))));
  };
  let huge: Buffer | undefined;
  const hugePage = (): Buffer => (huge ??= Buffer.from(page(range(HUGE_PAGE_KEYS).map(() => newContentKey(DAY, systemRandom)))));
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (bucket) => asked.get(bucket) ?? 0,
    behave: (bucket, ...[as]) => void manners.set(bucket, as),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const slowly = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, SLOW_MS);
    response.once('close', () => {
      clearTimeout(timer);
      reject(new Error('the client has left'));
    });
  });

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1024' }).write('t');
  const timer = setInterval(() => response.write('t'), SLOW_MS);
  response.once('close', () => clearInterval(timer));
}

const nextPage = (): string => `<NextContinuationToken>${systemRandom.hex(8)}</NextContinuationToken>`;
const page = (keys: readonly string[]): string =>
  `<ListBucketResult><IsTruncated>${keys.length > 0}</IsTruncated>${keys.length > 0 ? nextPage() : ''}${keys
    .map((key) => `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>`)
    .join('')}</ListBucketResult>`;

const uploads = (count: number): string =>
  `<ListMultipartUploadsResult><IsTruncated>${count > 0}</IsTruncated>${range(count)
    .map(() => `<Upload><Key>${newContentKey(DAY, systemRandom)}</Key><UploadId>${systemRandom.hex(8)}</UploadId></Upload>`)
    .join('')}</ListMultipartUploadsResult>`;
