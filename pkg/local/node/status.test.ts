import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Pod } from '../../kube/kinds.ts';
import type { ContainerStatus } from './container.ts';
import { readLog } from './logs.ts';
import { podStatus, type PodView } from './status.ts';

const NOW = new Date('2026-03-01T12:00:00.500Z');
const container = (more: Partial<ContainerStatus>): ContainerStatus => ({
  name: 'server',
  image: 'carrel:dev',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...more,
});
const running = { running: { startedAt: '2026-03-01T11:00:00Z' } };
const view = (more: Partial<PodView>): PodView => ({
  pod: { spec: { containers: [], restartPolicy: 'Always' } },
  hostIP: '127.9.8.1',
  podIP: '127.9.8.10',
  startTime: '2026-03-01T11:00:00Z',
  init: [],
  containers: [container({ state: running, ready: true })],
  ...more,
});
const isTrue = (given: PodView, type: string): boolean =>
  podStatus(given, NOW).conditions?.find((each) => each.type === type)?.status === 'True';

test('a pod is Ready when all its containers are', () => {
  expect(podStatus(view({}), NOW).phase).toBe('Running');
  expect(isTrue(view({}), 'Ready')).toBe(true);

  const waiting = view({ containers: [container({ state: running, ready: true }), container({ name: 'b', state: running })] });
  expect(isTrue(waiting, 'Ready')).toBe(false);
  expect(podStatus(waiting, NOW).conditions?.find(({ type }) => type === 'ContainersReady')?.message).toBe(
    'containers with unready status: [b]',
  );
});

test('a readiness gate delays Ready, not ContainersReady', () => {
  const pod: Pod = { spec: { containers: [], readinessGates: [{ conditionType: 'example.com/gate' }] } };

  expect(isTrue(view({ pod }), 'Ready')).toBe(false);
  expect(isTrue(view({ pod }), 'ContainersReady')).toBe(true);
});

test('a condition keeps the time of its last change', () => {
  const status = podStatus(view({}), new Date('2026-01-01T00:00:00Z'));

  const again = podStatus(view({ pod: { spec: { containers: [] }, status } }), NOW);

  expect(again.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(Array(5).fill('2026-01-01T00:00:00Z'));
});

test.each([
  ['Never', 0, 'Succeeded'],
  ['Never', 1, 'Failed'],
  ['Always', 0, 'Running'],
])('with restartPolicy %s and exit code %i the phase is %s', (restartPolicy, exitCode, phase) => {
  const given = view({
    pod: { spec: { containers: [], restartPolicy } },
    containers: [container({ state: { terminated: { exitCode } } })],
  });

  expect(podStatus(given, NOW).phase).toBe(phase);
});

test('the reason that a pod has not started is in its container statuses', () => {
  const blocked = { reason: 'CreateContainerConfigError', message: 'secret "x" not found' };

  const status = podStatus(
    view({ podIP: undefined, blocked, containers: [container({ state: { waiting: { reason: 'ContainerCreating' } } })] }),
    NOW,
  );

  expect(status.phase).toBe('Pending');
  expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: blocked });
});

test.each([
  [undefined, 'one\ntwo\nthree\n'],
  [2, 'two\nthree\n'],
  [0, ''],
  [9, 'one\ntwo\nthree\n'],
])('the last %s lines of a log', async (tailLines, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-log-'));
  const path = join(folder, 'log');
  writeFileSync(path, 'one\ntwo\nthree\n');

  const chunks: Buffer[] = [];
  for await (const chunk of readLog(path, { tailLines, limitBytes: undefined, follow: false }, () => true)) chunks.push(chunk);

  expect(Buffer.concat(chunks).toString()).toBe(expected);
  rmSync(folder, { recursive: true });
});
