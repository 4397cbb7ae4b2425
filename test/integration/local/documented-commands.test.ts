import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/backends/backends.ts';
import { inParallel } from '../../support/wait.ts';
import { carrel } from '../operator/carrel.ts';

const GROUPS = /\b(?:carrel|main\.js) (jobs|webhooks|tenants|keys|rollout) ([a-z-]+)/g;
const COMMANDS = [
  ...new Set(
    [...globSync('docs/**/*.md', { cwd: ROOT }), 'charts/carrel/files/alerts.yaml'].flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(GROUPS)].map(([, group, name]) => `${group} ${name}`),
    ),
  ),
];

test('each command of carrel that the documentation names is one', async () => {
  const missing: string[] = [];
  await inParallel(COMMANDS, 4, async (command) => {
    const { stdout } = await carrel([...command.split(' '), '--help']);
    if (!stdout.startsWith(`Usage: carrel ${command} `)) missing.push(command);
  });

  expect(COMMANDS).toContain('jobs retry');
  expect(missing).toEqual([]);
});
