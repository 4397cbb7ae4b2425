import { expect, test } from '@jest/globals';
import { circlesOf, complaint, CONTENT_IMPORTS, importsOf } from './import-rules.ts';

const complaints = (file: string, text: string): (string | undefined)[] => importsOf(file, text).map(complaint);

test('a package may import packages of lower tiers', () => {
  expect(
    complaints(
      'pkg/http/app.ts',
      "import { Problem } from '../api/problem.ts';\nimport type { Clock } from '../runtime/clock.ts';",
    ),
  ).toEqual([undefined, undefined]);
});

test('an import upwards is refused with the names of both packages and of their tiers', () => {
  expect(complaints('pkg/api/endpoint.ts', "import { createApp } from '../http/app.ts';")).toEqual([
    'pkg/api (platform) is below pkg/http (drivers) and must not import it',
  ]);
});

test('within a tier a package imports lower steps alone', () => {
  expect(complaints('pkg/content/content.ts', "import { Tasks } from '../tasks/tasks.ts';")).toEqual([undefined]);
  expect(complaints('pkg/accounts/accounts.ts', "import { Tasks } from '../tasks/tasks.ts';")).toEqual([
    'pkg/accounts and pkg/tasks stand side by side (features) and must not import each other',
  ]);
  expect(complaints('pkg/tasks/tasks.ts', "import { Content } from '../content/content.ts';")).toEqual([
    'pkg/tasks (features) is below pkg/content (features) and must not import it',
  ]);
});

test('a package that is not listed is a feature: lower packages do not import it, nor does another feature', () => {
  expect(complaints('pkg/polls/polls.ts', "import type { Feature } from '../feature/feature.ts';")).toEqual([undefined]);
  expect(complaints('pkg/lti/lti.ts', "import { polls } from '../polls/polls.ts';")).toEqual([
    'pkg/lti and pkg/polls stand side by side (features) and must not import each other',
  ]);
});

test('packages of one step of a tier do not import each other, also by type, re-export or dynamic import', () => {
  const sentence = 'pkg/jobs and pkg/http stand side by side (drivers) and must not import each other';
  expect(
    complaints(
      'pkg/jobs/dispatcher.ts',
      "import type { A } from '../http/app.ts';\nexport * from '../http/b.ts';\nconst x = await import('../http/c.ts');",
    ),
  ).toEqual([sentence, sentence, sentence]);
});

test('within pkg/content, blobs is below model, and model below every other folder', () => {
  const file = 'pkg/content/model/files/files.service.ts';
  expect(
    complaints(file, "import { Blobs } from '../../blobs/blobs.ts';\nimport { pathOf } from '../names/names.policy.ts';"),
  ).toEqual([undefined, undefined]);
  expect(complaints(file, "import { fileList } from '../../lists/file-list.sql.ts';")).toEqual([
    'pkg/content/model is below pkg/content/lists and must not import it',
  ]);
  expect(complaints('pkg/content/blobs/blobs.ts', "import { Files } from '../model/files/files.service.ts';")).toEqual([
    'pkg/content/blobs is below pkg/content/model and must not import it',
  ]);
});

test('the other folders of pkg/content import only those that are listed, which leads nowhere back', () => {
  expect(complaints('pkg/content/search/search.sql.ts', "import { fileList } from '../lists/file-list.sql.ts';")).toEqual([
    undefined,
  ]);
  expect(complaints('pkg/content/lists/file-lists.service.ts', "import { Search } from '../search/search.service.ts';")).toEqual([
    'pkg/content/lists must not import pkg/content/search: move what both need to pkg/content/model, or list the ' +
      'import with its reason in CONTENT_IMPORTS',
  ]);
  expect(complaints('pkg/content/tags/tags.service.ts', "import { contentFeature } from '../content.ts';")).toEqual([
    'pkg/content/tags must not import the feature that is made of it',
  ]);
  const arrows = Object.entries(CONTENT_IMPORTS).flatMap(([from, targets]) =>
    targets.map((to) => ({ from, to, line: 1, typeOnly: false, isLazy: false })),
  );
  expect(circlesOf(arrows)).toEqual([]);
});

test('the weight of a confined package is kept out of the server, its types are not', () => {
  expect(
    complaints('pkg/content/files.ts', "import { Queue } from 'bullmq';\nimport type { V1Pod } from '@kubernetes/client-node';"),
  ).toEqual(['only pkg/jobs, cmd/worker may load bullmq', undefined]);
});

test('production loads nothing of the platform on one machine: only carrel may, for that platform’s commands', () => {
  const sentence = 'pkg/local is the platform on one machine: only cmd/carrel may load it, and only by import()';
  expect(
    complaints(
      'cmd/carrel/platform.ts',
      "import type { Group } from '../../pkg/local/platform.ts';\n" +
        "const { up } = await import('../../pkg/local/commands/up.ts');\n" +
        "import { down } from '../../pkg/local/commands/down.ts';",
    ),
  ).toEqual([undefined, undefined, sentence]);
  expect(complaints('cmd/worker/worker.ts', "const { up } = await import('../../pkg/local/commands/up.ts');")).toEqual([
    sentence,
  ]);
  expect(complaints('pkg/admin/installation.ts', "const { clientOf } = await import('../local/client.ts');")).toEqual([
    'pkg/admin and pkg/local stand side by side (drivers) and must not import each other',
  ]);
});

test('a migration imports only quoting, types and its own folder, so nothing that could change after it ran', () => {
  const migrations = 'pkg/store/postgres/migrations/tenant';
  const sentence =
    'a migration imports nothing but pkg/store/postgres/quoting.ts: what it imports could change after it was applied';
  expect(
    complaints(
      `${migrations}/0002-polls.ts`,
      "import { quoteIdentifier } from '../../quoting.ts';\nimport type { TenantMigration } from './migration.ts';\n" +
        "import { polls } from './0002-polls/polls.ts';",
    ),
  ).toEqual([undefined, undefined, undefined]);
  expect(
    complaints(
      `${migrations}/0002-polls.ts`,
      "import { people } from './0001-baseline/people.ts';\nimport { quoteIdentifier } from '../../pool.ts';\n" +
        "import { createHash } from 'node:crypto';\nimport { MAX } from '../../../../polls/polls.ts';",
    ),
  ).toEqual([sentence, sentence, sentence, sentence]);
  expect(complaints(`${migrations}/index.ts`, "import { polls } from './0002-polls.ts';")).toEqual([undefined]);
});

test('product code imports nothing of migrations: the store alone runs them, by their lists', () => {
  const sentence = 'only pkg/store/postgres runs migrations, by their lists; a constant that both need stands in both';
  const list = "import { tenantMigrations } from '../store/postgres/migrations/tenant/index.ts';";
  expect(complaints('pkg/admin/stores.ts', list)).toEqual([sentence]);
  expect(
    complaints('pkg/store/postgres/provisioning/a.ts', "import { people } from '../migrations/tenant/0001-people.ts';"),
  ).toEqual([sentence]);
  expect(
    complaints('pkg/store/postgres/provisioning/a.ts', "import { tenantMigrations } from '../migrations/tenant/index.ts';"),
  ).toEqual([undefined]);
});

test('product code does not need tests', () => {
  expect(complaints('pkg/kube/work-queue.ts', "import { stores } from '../../test/support/backends/stores.ts';")).toEqual([
    'pkg/kube must not import test/',
  ]);
});

test('the browser’s pages and the rest do not import each other', () => {
  const sentence = 'pkg/web speaks only HTTP to the rest';
  expect(
    complaints('pkg/web/lti/entry/api.ts', "import { render } from 'preact';\nimport { enter } from './session.ts';"),
  ).toEqual([undefined, undefined]);
  expect(
    complaints('pkg/web/lti/entry/api.ts', "import type { FileView } from '../../../content/files/files.schema.ts';"),
  ).toEqual([sentence]);
  expect(complaints('pkg/http/app.ts', "import { enter } from '../web/lti/entry/session.ts';")).toEqual([sentence]);
  expect(complaints('hack/image.ts', "import { en } from '../pkg/web/text/lti.en.ts';")).toEqual([sentence]);
  expect(complaints('hack/web-text.test.ts', "import { en } from '../pkg/web/text/lti.en.ts';")).toEqual([undefined]);
});

test('a route imports components, the client and texts; a component imports nothing of a route', () => {
  expect(complaints('pkg/web/app/files/files-page.tsx', "import { Button } from '../../design/button.tsx';")).toEqual([
    undefined,
  ]);
  expect(complaints('pkg/web/design/button.tsx', "import { useClient } from '../app/services.ts';")).toEqual([
    'pkg/web/design must not import pkg/web/app',
  ]);
  expect(complaints('pkg/web/api/client.ts', "import type { t } from '../text/shell.ts';")).toEqual([
    'pkg/web/api must not import pkg/web/text',
  ]);
  expect(complaints('pkg/web/share/page.tsx', "import { Shell } from '../app/shell/shell.tsx';")).toEqual([
    'pkg/web/share must not import pkg/web/app',
  ]);
});

test('an import over several lines is seen, with its line', () => {
  const [found] = importsOf('cmd/server/main.ts', "\n\nimport {\n  a,\n  b,\n} from '../../pkg/http/app.ts';");
  expect(found).toMatchObject({ to: 'pkg/http/app.ts', typeOnly: false });
});

test('the engine of jobs knows no feature', () => {
  const found = (to: string) => complaint({ from: 'pkg/jobs/worker.ts', line: 1, to, typeOnly: false, isLazy: false });

  expect(found('pkg/webhooks/webhooks.ts')).toBe('pkg/jobs knows no feature and must not import pkg/webhooks');
  expect(found('pkg/api/job.ts')).toBeUndefined();
});

test('files that import each other are found, by types too, each circle once', () => {
  const imports = [
    ...importsOf('pkg/api/a.ts', "import type { B } from './b.ts';\nimport { D } from './d.ts';"),
    ...importsOf('pkg/api/b.ts', "import { C } from './c.ts';"),
    ...importsOf('pkg/api/c.ts', "import { A } from './a.ts';"),
    ...importsOf('pkg/api/d.ts', "import { E } from './e.ts';"),
  ];

  expect(circlesOf(imports)).toEqual([['pkg/api/a.ts', 'pkg/api/b.ts', 'pkg/api/c.ts']]);
});
