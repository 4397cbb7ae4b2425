import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { NODE_OPTIONS } from '../../pkg/operator/tenant/children/deployment.ts';
import { startServerProcess } from '../faults/server-process.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant, type TestTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { byTurns, costLine, countOperations, type Line, rateLine } from './measure.ts';
import { memoryOf } from './weight.ts';

const MIB = 1 << 20;
const SIZE_MIB = 256;
const LEAST = 0.8;
const ROUNDS = 3;
/** docs/design/testing.md, in MiB. */
const GROWTH_MOST = 64;
const SAMPLE_MS = 20;

/** 256 MiB of unknown length up and down, in MiB a second, beside lib-storage and the SDK straight to the same store. */
export async function transfers(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const port = await freePort();
  const server = await startServerProcess(tenant, port);
  const { client, Bucket } = storeOf(tenant);
  try {
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(tenant.administrator.email, tenant.administrator.password);
    const upload = async (): Promise<string> => {
      const reply = await api.upload('/files', {
        file: stream(),
        name: 'big.bin',
        fields: { on_conflict: 'rename' },
      });
      if (reply.status !== 201) throw new Error(`the upload was answered ${reply.status}`);
      return reply.body.id as string;
    };
    const put = (): Promise<unknown> =>
      new Upload({
        client,
        params: { Bucket, Key: 'bench', Body: stream() },
      }).done();
    const up = await byTurns(
      () =>
        rate(async () =>
          api.delete(`/files/${await upload()}`, {
            query: { permanent: true },
          }),
        ),
      () => rate(put),
      { rounds: ROUNDS },
    );
    const url = `${api.url}/files/${await upload()}/download`;
    const down = await byTurns(
      () =>
        rate(async () =>
          drained(
            (
              await request(url, {
                headers: { authorization: `Bearer ${api.token}` },
              })
            ).body,
          ),
        ),
      () => rate(async () => drained((await client.send(new GetObjectCommand({ Bucket, Key: 'bench' }))).Body as Readable)),
      { rounds: ROUNDS },
    );
    const growth = await byTurns(
      () => growthOf(tenant),
      async () => GROWTH_MOST,
      { rounds: ROUNDS },
    );
    return [
      rateLine(`upload ${SIZE_MIB} MiB`, up, 'lib-storage Upload', LEAST, ' MiB/s'),
      rateLine(`download ${SIZE_MIB} MiB`, down, 'the SDK from S3', LEAST, ' MiB/s'),
      costLine(`RSS: ${SIZE_MIB} MiB up and down`, growth, 'the bound', 1, 'MiB'),
    ];
  } finally {
    await server.end('SIGTERM');
    client.destroy();
    await tenant.stop();
  }
}

/** Returns by how many MiB a new server's resident memory grows, at most, during an upload and a download. */
async function growthOf(tenant: TestTenant): Promise<number> {
  const port = await freePort();
  const server = await startServerProcess(tenant, port, { NODE_OPTIONS });
  try {
    const { email, password } = tenant.administrator;
    const api = await new Api(`http://127.0.0.1:${port}/api/v1`).login(email, password);
    const small = await api.upload('/files', { file: Buffer.from('small'), name: 'small', fields: { on_conflict: 'rename' } });
    await drained(await api.download(`/files/${small.body.id}/download`), 'small'.length);
    const before = memoryOf(server.pid, 'Rss');
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, memoryOf(server.pid, 'Rss'))), SAMPLE_MS);
    const big = await api.upload('/files', { file: stream(), name: 'big', fields: { on_conflict: 'rename' } });
    await drained(await api.download(`/files/${big.body.id}/download`));
    clearInterval(timer);
    await api.delete(`/files/${big.body.id}`, { query: { permanent: true } });
    return most - before;
  } finally {
    await server.end('SIGTERM');
  }
}

export function storeOf({ config }: TestTenant): { client: S3Client; Bucket: string } {
  const credentials = {
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
  };
  const client = new S3Client({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    forcePathStyle: true,
    credentials,
  });
  return { client, Bucket: config.CARREL_S3_BUCKET };
}

/** The bytes are the same each time: what it costs to make them is not measured. */
function stream(): Readable {
  const chunk = Buffer.alloc(MIB, 'carrel');
  let left = SIZE_MIB;
  return new Readable({
    read() {
      this.push(left-- > 0 ? chunk : null);
    },
  });
}

async function rate(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  countOperations(1);
  return (SIZE_MIB * 1000) / (performance.now() - started);
}

async function drained(body: Readable, expected = SIZE_MIB * MIB): Promise<void> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length;
  if (bytes !== expected) throw new Error(`${bytes} bytes came`);
}
