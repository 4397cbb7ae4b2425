import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type HoldingWay, holdingWay, isDeletion, isPut } from '../../support/fakes/holding-way.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { field, filePart, FORM } from './raw-form.ts';
import { objectCount } from './tenant-state.ts';

const MIB = 1 << 20;
const tenant = serverSuite();

let isHolding = true;
let deletions = 0;
const way: HoldingWay = fixture(
  async () => {
    const made = await holdingWay(new URL(tenant.config.CARREL_S3_ENDPOINT), (request) => {
      if (isDeletion(request)) deletions += 1;
      return isHolding && isPut(request);
    });
    await tenant.restart({ CARREL_S3_ENDPOINT: made.url });
    return made;
  },
  async (running) => running.close(),
);

/** A client that has sent the whole file, and then leaves out the end of its form. */
function sender(file: Buffer): Socket {
  const body = Buffer.concat([filePart(file, 'left.bin'), field('folder_id', '')]);
  const head = [
    'POST /api/v1/files HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${tenant.admin.token}`,
    `Content-Type: ${FORM}`,
    `Content-Length: ${body.length + 100}`,
  ];
  const socket = connect(Number(new URL(tenant.url).port), '127.0.0.1');
  socket.on('error', () => undefined).write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return socket;
}

const isUnderWay = async (): Promise<boolean> =>
  (await (await fetch(`${tenant.opsUrl}/metrics`)).text()).includes('transfers_in_progress{kind="upload",program="server"} 1');

test.each([
  ['that is held in memory', 1_000],
  ['that is streamed', MIB],
])('a client that leaves while the store makes the object of a file %s leaves none', async (_, bytes) => {
  const before = await objectCount(tenant);
  isHolding = true;
  deletions = 0;
  const socket = sender(Buffer.alloc(bytes, 'x'));
  await waitFor('the request to the store', () => way.held === 1);

  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  // A server that deletes the object at once does so in this time.
  await Promise.race([waitFor('a deletion', () => deletions > 0), pause(500)]);
  await way.release();

  await waitFor('the deletion of the object', () => deletions > 0);
  await waitFor('the end of the upload', async () => !(await isUnderWay()));
  expect(await objectCount(tenant)).toBe(before);
});

test('a client that leaves gives up its slot, although the store does not answer', async () => {
  isHolding = true;
  const socket = sender(Buffer.alloc(1_000, 'x'));
  await waitFor('the request to the store', () => way.held === 1);
  const before = await isUnderWay();

  socket.destroy();
  await waitFor('the end of the upload', async () => !(await isUnderWay()), 10_000);

  expect(before).toBe(true);
  isHolding = false;
  await way.release();
});
