import { expect, test } from '@jest/globals';
import { complaint, importsOf } from './arrows.ts';

const complaints = (file: string, text: string): (string | undefined)[] => importsOf(file, text).map(complaint);

test('a room may import what stands below it', () => {
  expect(
    complaints('pkg/http/app.ts', "import { Problem } from '../api/problem.ts';\nimport type { Clock } from '../runtime/clock.ts';"),
  ).toEqual([undefined, undefined]);
});

test('an arrow back is told with both rooms', () => {
  expect(complaints('pkg/api/endpoint.ts', "import { createApp } from '../http/app.ts';")).toEqual([
    'the arrow goes from pkg/http to pkg/api, never back',
  ]);
});

test('rooms of one floor do not know each other, also by type, re-export or dynamic import', () => {
  const sentence = 'pkg/jobs and pkg/http stand on one floor and must not know each other';
  expect(
    complaints(
      'pkg/jobs/feeder.ts',
      "import type { A } from '../http/app.ts';\nexport * from '../http/b.ts';\nconst x = await import('../http/c.ts');",
    ),
  ).toEqual([sentence, sentence, sentence]);
});

test('the weight of a confined package is kept out of the server, its types are not', () => {
  expect(
    complaints('pkg/content/files.ts', "import { Queue } from 'bullmq';\nimport type { V1Pod } from '@kubernetes/client-node';"),
  ).toEqual(['only pkg/jobs, cmd/worker may load bullmq', undefined]);
});

test('product code does not need tests', () => {
  expect(complaints('pkg/kube/queue.ts', "import { stores } from '../../test/support/stores.ts';")).toEqual([
    'pkg/kube must not need test/',
  ]);
});

test('the browser’s pages and the rest do not import each other', () => {
  const sentence = 'pkg/web speaks only HTTP to the rest';
  expect(complaints('pkg/web/entry/api.ts', "import { render } from 'preact';\nimport { enter } from './session.ts';")).toEqual([
    undefined,
    undefined,
  ]);
  expect(complaints('pkg/web/entry/api.ts', "import type { FileView } from '../../content/files/files.schema.ts';")).toEqual([sentence]);
  expect(complaints('pkg/http/app.ts', "import { enter } from '../web/entry/session.ts';")).toEqual([sentence]);
});

test('an import over several lines is seen, with its line', () => {
  const [found] = importsOf('cmd/server/main.ts', "\n\nimport {\n  a,\n  b,\n} from '../../pkg/http/app.ts';");
  expect(found).toMatchObject({ to: 'pkg/http/app.ts', typeOnly: false });
});
