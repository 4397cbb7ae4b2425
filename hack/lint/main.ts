/**
 * `make lint`: types, oxlint, format, import rules, circles of imports, retired words, subjects of commits, the length of files
 * and lines, and whether generated files are fresh. Runs all of them, prints what is wrong, and ends with one line; exit 1 when
 * any failed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { RULE_SINCE, subjectComplaint } from './commit-subjects.ts';
import { circlesOf, complaint, importsOf } from './import-rules.ts';
import { longLines } from './line-length.ts';
import { retiredWords } from './words.ts';

const MAX_LINES = 400;

const all = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => !file.includes('.generated.') && existsSync(file));
const files = all.filter((file) => /\.(ts|tsx|js|mjs)$/.test(file));
const WRITTEN_BY_TOOLS = /^(package-lock\.json|hack\/fuzz\/requirements\.txt|LICENSE)$|^config\/gateway-api\/|\.(sum|webp)$/;
const prose = all.filter((file) => !WRITTEN_BY_TOOLS.test(file) && !file.startsWith('hack/lint/words'));

/** Runs a package's command or `node`; returns what it printed if it failed. */
function tool(command: string, ...args: string[]): string[] {
  const run = spawnSync(command === 'node' ? process.execPath : `node_modules/.bin/${command}`, args, { encoding: 'utf8' });
  return run.status === 0 ? [] : `${run.stdout}${run.stderr}${run.error ?? ''}`.split('\n').filter((line) => line !== '');
}

/** Options that store the results of a check: a check without changes then takes a tenth of the CPU time of the first one. */
const knownTypes = (project: string): string[] => [
  '--incremental',
  '--tsBuildInfoFile',
  `node_modules/.cache/types/${project.replaceAll('/', '-')}.tsbuildinfo`,
];

/** Returns the subjects that the rule applies to; none in a shallow clone, which does not show where the rule begins. */
function subjects(): string[] {
  if (spawnSync('git', ['cat-file', '-e', `${RULE_SINCE}^{commit}`]).status !== 0) return [];
  const log = execFileSync('git', ['log', '--no-merges', '--format=%s', `${RULE_SINCE}..HEAD`], { encoding: 'utf8' });
  return log.split('\n').filter((subject) => subject !== '');
}

const checks: Record<string, () => string[]> = {
  types: () => [
    ...tool('node', 'hack/api-types/main.ts'),
    ...['tsconfig.json', 'pkg/web/tsconfig.json'].flatMap((project) => tool('tsc', '-p', project, ...knownTypes(project))),
  ],
  oxlint: () => tool('oxlint', '--deny-warnings'),
  format: () => tool('oxfmt', '--check', ...files),
  imports: () =>
    files.flatMap((file) =>
      importsOf(file, readFileSync(file, 'utf8')).flatMap((found) => {
        const problem = file.endsWith('.test.ts') && found.to.startsWith('test/') ? undefined : complaint(found);
        return problem === undefined ? [] : [`${file}:${found.line}: ${problem}`];
      }),
    ),
  circles: () =>
    circlesOf(files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))).map(
      (circle) => `${circle.join(', ')} import each other in a circle; a type or constant in a file of its own ends it`,
    ),
  words: () =>
    prose.flatMap((file) => [
      ...retiredWords(file).map(({ message }) => `${file}: the file's name: ${message}`),
      ...retiredWords(readFileSync(file, 'utf8')).map(({ line, message }) => `${file}:${line}: ${message}`),
    ]),
  commits: () =>
    subjects().flatMap((subject) => {
      const problem = subjectComplaint(subject);
      return problem === undefined ? [] : [`"${subject}" ${problem}`];
    }),
  length: () =>
    files.flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n').length - 1;
      return lines > MAX_LINES ? [`${file}: ${lines} lines; split it into files of at most ${MAX_LINES}`] : [];
    }),
  lines: () =>
    files.flatMap((file) =>
      longLines(readFileSync(file, 'utf8')).map(({ line, length }) => `${file}:${line}: ${length} characters; wrap it`),
    ),
  generated: () => [...tool('node', 'hack/crd-types.ts', '--check'), ...tool('node', 'hack/settings-table.ts', '--check')],
};

const failed: string[] = [];
for (const [name, check] of Object.entries(checks)) {
  const problems = check();
  if (problems.length > 0) failed.push(name);
  process.stdout.write(
    `lint: ${name} ${problems.length === 0 ? 'ok' : 'failed'}\n${problems.map((line) => `  ${line}\n`).join('')}`,
  );
}
process.stdout.write(failed.length === 0 ? 'lint: clean\n' : `lint: ${failed.join(', ')} failed\n`);
process.exit(failed.length === 0 ? 0 : 1);
