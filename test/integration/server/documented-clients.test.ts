import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/backends/backends.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();
const run = promisify(execFile);
const page = readFileSync(join(ROOT, 'docs/use-the-api.md'), 'utf8');

const COMMANDS = { 'client.sh': 'bash', 'client.ts': process.execPath, 'client.py': 'python3' };
const LIMIT_MS = 60_000;

/** The program that stands behind `<!-- name -->`. */
function program(name: string): string {
  const text = page.split(`<!-- ${name} -->`)[1]?.match(/^```\w+\n([\s\S]*?)^```$/m)?.[1];
  if (text === undefined) throw new Error(`docs/use-the-api.md has no ${name}`);
  return text;
}

test.each(Object.entries(COMMANDS))('%s of the documentation goes from sign-in to a share link, twice', async (name, command) => {
  const { api, user, password } = await tenant.user();
  const folder = mkdtempSync(join(tmpdir(), 'carrel-client-'));
  const [client, file] = [join(folder, name), join(folder, 'Übung 1.pdf')];
  const content = Buffer.from(`%PDF-1.7 ${'leaf '.repeat(1_000)}`);
  writeFileSync(client, program(name));
  writeFileSync(file, content);
  const env = { PATH: process.env['PATH'], HOME: folder, API: tenant.apiUrl, EMAIL: user.email, PASSWORD: password };

  const links = [];
  for (const _ of ['first', 'second'])
    links.push((await run(command, [client, file], { env, timeout: LIMIT_MS })).stdout.trim().split(' '));

  expect(readFileSync(`${file}.copy`).equals(content)).toBe(true);
  expect((await api.get('/files')).body.data).toMatchObject([{ name: 'Übung 1.pdf', path: '/Handouts/Übung 1.pdf', version: 2 }]);
  for (const [url = '', secret = ''] of links) {
    expect(url).toMatch(new RegExp(`^${tenant.url}/s/[0-9a-f]{64}$`));
    const link = `/s/${url.split('/').at(-1)}`;
    expect((await tenant.anonymous.get(link)).body).toMatchObject({ name: null, has_password: true });
    expect((await tenant.anonymous.get(`${link}/download`)).status).toBe(401);
    expect(
      (await tenant.anonymous.get(`${link}/download`, { headers: { 'x-share-password': secret } })).bytes.equals(content),
    ).toBe(true);
  }
});

test.each(Object.entries(COMMANDS))('%s of the documentation says what is wrong with a wrong password', async (name, command) => {
  const { user } = await tenant.user();
  const folder = mkdtempSync(join(tmpdir(), 'carrel-client-'));
  const [client, file] = [join(folder, name), join(folder, 'a.txt')];
  writeFileSync(client, program(name));
  writeFileSync(file, 'a');
  const env = { PATH: process.env['PATH'], HOME: folder, API: tenant.apiUrl, EMAIL: user.email, PASSWORD: 'not the password' };

  const failed = await run(command, [client, file], { env, timeout: LIMIT_MS }).then(
    () => undefined,
    (error: { code: number; stdout: string; stderr: string }) => error,
  );

  expect(failed?.code).toBeGreaterThan(0);
  expect(`${failed?.stdout}${failed?.stderr}`).toMatch(/401/);
});
