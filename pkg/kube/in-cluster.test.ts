import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inClusterAccess } from './in-cluster.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-account-'));
  await writeFile(join(directory, 'token'), 'first\n');
  await writeFile(join(directory, 'ca.crt'), 'a certificate');
});
afterAll(() => rm(directory, { recursive: true }));

const POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

test("a pod uses its ServiceAccount's token, the newest at each call", async () => {
  const access = inClusterAccess(POD, directory);
  const [first, second]: RequestOptions[] = [{}, {}];

  await access?.applyToHTTPSOptions(first ?? {});
  await writeFile(join(directory, 'token'), 'second');
  await access?.applyToHTTPSOptions(second ?? {});

  expect([first, second].map((options) => [options?.headers, String(options?.ca)])).toEqual([
    [{ authorization: 'Bearer first' }, 'a certificate'],
    [{ authorization: 'Bearer second' }, 'a certificate'],
  ]);
});

test.each([
  ['10.0.0.1', 'https://10.0.0.1:443'],
  ['fd00::1', 'https://[fd00::1]:443'],
])('the API server at %s', (host, server) => {
  expect(inClusterAccess({ ...POD, KUBERNETES_SERVICE_HOST: host }, directory)?.getCurrentCluster()?.server).toBe(server);
});

test('outside of a pod there is no access', () => {
  expect([inClusterAccess({}, directory), inClusterAccess(POD, join(directory, 'missing'))]).toEqual([undefined, undefined]);
});
