import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { helpersConfigSchema } from '../../cmd/helpers/config.ts';
import { operatorConfigSchema } from '../../cmd/operator/config.ts';
import { serverConfigSchema } from '../../cmd/server/config.ts';
import { workerConfigSchema } from '../../cmd/worker/config.ts';
import { CATALOGUE } from '../../pkg/api/error-catalogue.ts';
import { LAUNCH_ERRORS } from '../../pkg/lti/launch-error.ts';
import { registryMigrations } from '../../pkg/store/postgres/migrations/registry/index.ts';
import { shardMigrations } from '../../pkg/store/postgres/migrations/shard/index.ts';
import { tenantMigrations } from '../../pkg/store/postgres/migrations/tenant/index.ts';
import { citing, pages, ROOT, sources, wordsOf } from './documentation.ts';

/*
 * What the documentation names exists, and what a reader may meet is in the documentation: settings, commands, error codes,
 * reasons. What comments cite is in the repository.
 */
const documentation = pages();
const allText = documentation.map(({ text }) => text).join('\n');
const code = sources();
const allCode = code.map(({ text }) => text).join('\n');

const SETTING = /\b((?:(?:CARREL|OTEL)_[A-Z0-9_]*[A-Z0-9])|KUBEBUILDER_ASSETS|XDG_CACHE_HOME)\b/g;

/** Variables by which our own programs speak to each other, and those of the test run: nobody sets them by hand. */
const INTERNAL_SETTINGS = [
  'CARREL_POD',
  'CARREL_POD_UID',
  'CARREL_PROGRAM',
  'CARREL_TEST_DATA',
  'CARREL_TEST_RUN',
  'CARREL_VOLUME_ROOT',
];

test('every setting of a program and of the command line is documented, and the documentation names no other', () => {
  const inSchemas = [operatorConfigSchema, workerConfigSchema, serverConfigSchema, helpersConfigSchema].flatMap((schema) =>
    Object.keys(schema.shape),
  );
  const inCode = [...new Set([...inSchemas, ...wordsOf(allCode, SETTING)])].filter((name) => !INTERNAL_SETTINGS.includes(name));

  expect(wordsOf(allText, SETTING)).toEqual(inCode.toSorted());
});

test('an internal variable that no program reads any more is taken off the list', () => {
  expect(INTERNAL_SETTINGS.filter((name) => !allCode.includes(name))).toEqual([]);
});

test('docs/operate/upgrade.md says of each migration what going back would lose, and of no other', () => {
  const [, table = ''] = /<!-- losses -->([\s\S]*?)<!-- \/losses -->/.exec(allText) ?? [];
  const listed = [...table.matchAll(/^\| [^|]* \| `([^`]+)` \| (.*) \|$/gm)].map(([, name, text]) => [name, text]);
  const migrations = [...tenantMigrations, ...shardMigrations, ...registryMigrations];

  expect(listed).toEqual(migrations.flatMap(({ name, loses }) => (loses === undefined ? [] : [[name, loses]])));
});

test('each target of the Makefile is documented, and the documentation names no other', () => {
  const targets = wordsOf(readFileSync(join(ROOT, 'Makefile'), 'utf8'), /^([a-z][a-z0-9-]*):.*## /gm);
  const runnable = documentation.flatMap(({ spans, blocks }) => [...spans, ...blocks]).join('\n');

  expect(wordsOf(runnable, /(?:^|[\s;&(])make ([a-z][a-z0-9-]*)/gm)).toEqual(targets);
});

const carrel = (...args: string[]): string => {
  const run = spawnSync(process.execPath, ['cmd/carrel/main.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (run.status !== 0) throw new Error(`carrel ${args.join(' ')} ended with ${run.status}: ${run.stderr}`);
  return run.stdout;
};

/** The commands that a help text lists, with those below them. */
function commandsOf(path: readonly string[] = []): string[] {
  const [, list = ''] = /^Commands:\n([\s\S]*)/m.exec(carrel(...path, '--help')) ?? [];
  return wordsOf(list, /^ {2}([a-z][a-z-]*)/gm)
    .filter((name) => name !== 'help')
    .flatMap((name) => {
      const below =
        list.includes(`  ${name} [options] [command]`) || list.includes(`  ${name} [command]`) ? commandsOf([...path, name]) : [];
      return below.length > 0 ? below : [[...path, name].join(' ')];
    });
}

test('each command of carrel is documented, and the documentation names no other', () => {
  const commands = commandsOf().toSorted();
  const runnable = documentation.flatMap(({ spans, blocks }) => [...spans, ...blocks]).join('\n');
  const named = wordsOf(runnable, /(?:^|[\s;&(])carrel ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/gm);

  expect(named.filter((line) => !commands.some((command) => line === command || line.startsWith(`${command} `)))).toEqual([]);
  expect(commands.filter((command) => !named.some((line) => line === command || line.startsWith(`${command} `)))).toEqual([]);
});

test('docs/use-the-api.md lists every error code of the API with its status and meaning', () => {
  const page = documentation.find(({ file }) => file === 'docs/use-the-api.md')?.text ?? '';
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.*) \|$/gm)].map(([, error, status, meaning]) => ({
    error,
    status: Number(status),
    meaning,
  }));

  expect(listed).toEqual(Object.entries(CATALOGUE).map(([error, { status, meaning }]) => ({ error, status, meaning })));
});

test('each error code of the catalogue is one that some code answers with', () => {
  const answering = code.filter(
    ({ file, text }) => file.startsWith('pkg/') && file !== 'pkg/api/error-catalogue.ts' && /\bProblem/.test(text),
  );
  const answers = new Set(answering.flatMap(({ text }) => wordsOf(text, /(?:new Problem\(\s*|return |[?:] )'([a-z_]+)'/g)));

  expect(Object.keys(CATALOGUE).filter((error) => !answers.has(error))).toEqual([]);
});

/** Kubernetes' own shapes, which go to the pods as they are. */
const PASSED_ON = /^spec\.pod\.(tolerations|affinity|topologySpreadConstraints)\./;
/** Fields that the operator stores, because the contract has them, and that nothing does anything with. */
const ONLY_STORED = ['spec.consumerKey'];

interface SchemaNode {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** The paths of a resource's fields that do not say "Not used yet", neither themselves nor above. */
function usedFields(node: SchemaNode, path = ''): string[] {
  if (/\bNot used yet\b/.test(node.description ?? '')) return [];
  const below = Object.entries(node.properties ?? {}).flatMap(([name, field]) =>
    usedFields(field, path === '' ? name : `${path}.${name}`),
  );
  return [...(path === '' ? [] : [path]), ...below, ...(node.items ? usedFields(node.items, path) : [])];
}

test('each field of a custom resource is one that some code reads or writes, or says "Not used yet"', () => {
  const readers = code
    .filter(({ file }) => /^pkg\/(operator|lti\/registrations|webhooks|helper-services|schedules|local|kube)\//.test(file))
    .map(({ text }) => text);
  const known = new Set(wordsOf(readers.join('\n'), /\b([a-zA-Z]\w*)\b/g));
  const unread = readdirSync(join(ROOT, 'crds'))
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => {
      const { spec } = parse(readFileSync(join(ROOT, 'crds', file), 'utf8')) as {
        spec: { versions: { schema: { openAPIV3Schema: SchemaNode } }[] };
      };
      const fields = new Set(spec.versions.flatMap(({ schema }) => usedFields(schema.openAPIV3Schema)));
      return [...fields]
        .filter((field) => !PASSED_ON.test(field) && (ONLY_STORED.includes(field) || !known.has(field.split('.').at(-1) ?? '')))
        .map((field) => `${file}: ${field}`);
    });

  expect(unread).toEqual([]);
});

/** Names of other standards and products, which our code need not hold. */
const NAMES_OF_OTHERS = ['private_key_jwt', 'pg_roles', 'pg_dump', 'max_prepared_transactions', 'kube_job_failed'];

test('a name in snake_case that stands as code in the documentation is one that the code has', () => {
  const known = new Set([
    ...NAMES_OF_OTHERS,
    ...Object.keys(CATALOGUE),
    ...Object.keys(LAUNCH_ERRORS),
    ...wordsOf(allCode, /\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b/g),
  ]);
  const unknown = documentation.flatMap(({ file, spans }) =>
    spans
      .flatMap((span) => wordsOf(span, /(?:^|[^\w/.-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/-])/g))
      .flatMap((name) => (known.has(name) ? [] : [`${file}: ${name}`])),
  );

  expect(unknown).toEqual([]);
});

/** Reasons of conditions and Events that tell of nothing to be done. */
const GOOD_NEWS = [
  'Accepted',
  'Adopted',
  'AllSupported',
  'Available',
  'Current',
  'Exposed',
  'HasRoom',
  'HelpersReady',
  'KeysReady',
  'Migrated',
  'NotConfigured',
  'NotExposed',
  'NotStalled',
  'PlatformKeysResealed',
  'Ready',
  'RedisReady',
  'Rotating',
  'StorageReady',
  'Synced',
];
const REASON =
  /(?:new ConditionError\(\s*'|reason: '|\brefused?\('|(?:postgres|redis|s3): '(?=\w+Unavailable'))([A-Z][A-Za-z]+)'/g;
/** The reasons that a resource has by default, before the operator has seen it. */
const REASON_BY_DEFAULT = /\breason: ([A-Z][A-Za-z]+),/g;
const definitions = readdirSync(join(ROOT, 'crds'))
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => readFileSync(join(ROOT, 'crds', file), 'utf8'))
  .join('\n');
const operatorCode = code
  .filter(({ file }) => file.startsWith('pkg/operator/'))
  .map(({ text }) => text)
  .join('\n');

test('docs/operate/conditions.md says of every reason of a condition or an Event what to do, and of no other', () => {
  const page = documentation.find(({ file }) => file === 'docs/operate/conditions.md')?.text ?? '';
  const [, table = ''] = /<!-- reasons -->([\s\S]*?)<!-- \/reasons -->/.exec(page) ?? [];

  const reasons = [...wordsOf(operatorCode, REASON), ...wordsOf(definitions, REASON_BY_DEFAULT)].toSorted();

  expect(wordsOf(table, /^\| `(\w+)` \|/gm)).toEqual(reasons.filter((reason) => !GOOD_NEWS.includes(reason)));
  expect(GOOD_NEWS.filter((reason) => !operatorCode.includes(`'${reason}'`))).toEqual([]);
});

test('a page of docs/ that a comment cites exists, with the section that the comment names', () => {
  const dangling = citing().flatMap(({ file, text }) =>
    [...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:, (?:["“‘']([^"”’'\n]+)["”’']|([A-Z][a-z][^\n]*)))?/g)].flatMap(
      ([, page = '', quoted, section]) => {
        if (!existsSync(join(ROOT, page))) return [`${file}: ${page}`];
        const headings = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => heading);
        if (quoted !== undefined) return headings.includes(quoted) ? [] : [`${file}: ${page}, "${quoted}"`];
        if (!page.startsWith('docs/design/') || section === undefined) return [];
        return headings.some((heading) => section.startsWith(heading)) ? [] : [`${file}: ${page}, ${section}`];
      },
    ),
  );

  expect(dangling).toEqual([]);
});

test('each attack in docs/design/testing.md names a test that there is', () => {
  const [, table = ''] = /<!-- attacks -->([\s\S]*?)<!-- \/attacks -->/.exec(allText) ?? [];
  const attacks = [...table.matchAll(/\| (test\/\S+\.ts): (.+) \|$/gm)].map(([, file = '', sentence = '']) => ({
    file,
    sentence,
  }));
  const dangling = attacks.filter(({ file, sentence }) => {
    const lines = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8').split('\n') : [];
    return !lines.some(
      (line) => /^ *(?:test|\]\)\(|['"])/.test(line) && (line.includes(`'${sentence}`) || line.includes(`"${sentence}`)),
    );
  });

  expect(attacks.length).toBe(table.split('\n').filter((line) => line.startsWith('| ')).length - 1);
  expect(dangling).toEqual([]);
});

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link between pages of the documentation leads to a file, and to a heading where it names one', () => {
  const broken = documentation.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]+)(?:#([^)]*))?\)/g)].flatMap(([link, target = '', anchor]) => {
      const path = join(ROOT, dirname(file), target);
      const isThere = existsSync(path) && (anchor === undefined || anchorsOf(readFileSync(path, 'utf8')).includes(anchor));
      return isThere ? [] : [`${file}: ${link}`];
    }),
  );

  expect(broken).toEqual([]);
});
