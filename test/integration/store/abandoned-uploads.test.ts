import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { bucketName, StorageAdmin, type TenantBucket } from '../../../pkg/store/s3/admin.ts';
import { newClient, newKey, Objects } from '../../../pkg/store/s3/objects.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const MIB = 1 << 20;
const name = bucketName(`t-${systemRandom.hex(4)}`);
const bucket: TenantBucket = { bucket: name, accessKeyId: name, secretAccessKey: systemRandom.base64url(30) };

const running = ownStores();
let client: S3Client;
beforeAll(async () => {
  const admin = new StorageAdmin(running.s3);
  await admin.ensureBucketWithUser(bucket);
  admin.close();
  client = newClient({ ...running.s3, ...bucket });
});
atEnd(async () => {
  client?.destroy();
});

const uploads = async (): Promise<number> =>
  (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket.bucket }))).Uploads?.length ?? 0;

/** A way to the store on which `meddle` may do as it likes with a request; else it goes on. */
async function wayTo(
  meddle: (request: IncomingMessage, response: ServerResponse, goOn: () => void) => void,
): Promise<{ url: string; close(): void }> {
  const target = new URL(running.s3.endpoint);
  const server = createServer((request, response) => {
    const goOn = (): void => {
      const { method, url: path, headers } = request;
      const far = httpRequest({ host: target.hostname, port: target.port, method, path, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
      });
      far.on('error', () => response.destroy());
      request.pipe(far);
    };
    meddle(request, response, goOn);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const isCreation = ({ method, url = '' }: IncomingMessage): boolean => method === 'POST' && /[?&]uploads\b/.test(url);
const isAbort = ({ method, url = '' }: IncomingMessage): boolean => method === 'DELETE' && url.includes('uploadId=');

/** An upload of which 20 MiB have come; the rest never does. */
function endlessUpload(objects: Objects, signal: AbortSignal): Promise<unknown> {
  const body = new PassThrough({ highWaterMark: 32 * MIB });
  body.write(Buffer.alloc(20 * MIB));
  return objects.put(newKey(systemRandom), body, { signal }).catch((error: Error) => error);
}

test('an upload that ends while the store is making it is given up once it is made', async () => {
  const held = Promise.withResolvers<() => void>();
  let aborts = 0;
  const way = await wayTo((request, _response, goOn) => {
    if (isAbort(request)) aborts += 1;
    if (isCreation(request)) held.resolve(goOn);
    else goOn();
  });
  const objects = new Objects({ ...running.s3, ...bucket, endpoint: way.url });
  const end = new AbortController();
  const ended = endlessUpload(objects, end.signal);
  const make = await held.promise;

  end.abort(new Error('gone'));
  await expect(ended).resolves.toMatchObject({ message: 'gone' });
  make();

  await waitFor('the upload to be made and given up', async () => aborts > 0 && (await uploads()) === 0);
  objects.close();
  way.close();
});

test('an upload that the store still has after it was given up is given up again', async () => {
  let aborts = 0;
  const way = await wayTo((request, response, goOn) => {
    // This stands for a part that arrives in the upload's folder at this moment.
    if (isAbort(request) && (aborts += 1) === 1) return void response.writeHead(204).end();
    goOn();
  });
  const objects = new Objects({ ...running.s3, ...bucket, endpoint: way.url });
  const end = new AbortController();
  const ended = endlessUpload(objects, end.signal);
  await waitFor('an upload under way', async () => (await uploads()) === 1);

  end.abort(new Error('gone'));
  await ended;

  await waitFor('the upload to be given up again', async () => (await uploads()) === 0);
  expect(aborts).toBeGreaterThan(1);
  objects.close();
  way.close();
});

test('many uploads that end while their parts flow leave nothing', async () => {
  const objects = new Objects({ ...running.s3, ...bucket });
  const ends = range(10).map(() => new AbortController());
  const ended = ends.map((end) => endlessUpload(objects, end.signal));
  await waitFor('some uploads under way', async () => (await uploads()) > 2);

  for (const end of ends) end.abort(new Error('gone'));
  await Promise.all(ended);

  await waitFor('no upload', async () => (await uploads()) === 0);
  objects.close();
});
