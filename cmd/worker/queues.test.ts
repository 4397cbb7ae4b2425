import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { QUEUES } from './queues.ts';

test('docs/operate/monitor.md lists the queues with their bounds', () => {
  const text = readFileSync(new URL('../../docs/operate/monitor.md', import.meta.url), 'utf8');
  const [, section = ''] = /\n## What runs in which queue\n(.*?)\n## /s.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)` \|.*\| (\d+) \| (\d+) \| (\d+) \|$/gm)];

  const documented = rows.map(([, name, ...bounds]) => [name, ...bounds.map(Number)]);

  expect(documented).toEqual(
    QUEUES.map(({ name, perTenant, concurrency, timeLimitMs }) => [name, perTenant, concurrency, (timeLimitMs ?? 0) / 60_000]),
  );
});
