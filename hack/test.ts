/**
 * `make test`: lint, then all lanes of tests on real back ends, in one go.
 * The last line is `N passed, N failed, N skipped`; a check of lint that fails counts as one that failed. Exit 1 when anything
 * failed. Arguments go to jest, and lint is left out then: `node hack/test.ts --selectProjects unit`. Ctrl-C, SIGTERM or the end
 * of the process that began it ends everything that the run started; what a killed run left is ended by the next one.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { compileCacheFolder } from '../pkg/runtime/compile-cache.ts';
import { takeBatchPolicy } from './batch-policy.ts';
import { failedTests, type TestFileResult } from './failed-tests.ts';
import { TestRun } from './test-run.ts';

interface Results {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: (TestFileResult & { startTime: number; endTime: number })[];
}

const SLOWEST = 30;
/**
 * V8's flags of jest and its workers. Each worker holds 100 MB of modules, and marking them costs a third of a second of CPU: by
 * default that happens for each 64 MiB of buffers that went by, and whenever a worker waits. Memory is not what is scarce here.
 */
const RARE_COLLECTIONS = [
  '--no-memory-reducer',
  '--heap-growing-percent=300',
  '--min-semi-space-size=16',
  '--external-memory-accounted-in-global-limit',
] as const;
/**
 * Programs written in Go collect their garbage when the heap has grown to 5 times its live size, not to twice. An API server then
 * uses a fifth less CPU.
 */
const RARE_COLLECTIONS_OF_GO = { GOGC: '400' } as const;
const PARENT_POLL_MS = 1_000;

const root = dirname(import.meta.dirname);
const jestArguments = process.argv.slice(2);
let isInterrupted = false;

for (const left of TestRun.abandoned(root)) {
  const ended = await left.end();
  if (ended > 0) say(`ended ${ended} processes that a killed run of the tests had left`);
}
takeBatchPolicy();
const run = TestRun.begin(root, { inMemory: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt(signal));
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) void interrupt('SIGHUP');
}, PARENT_POLL_MS).unref();

const folder = mkdtempSync(join(tmpdir(), 'carrel-test-results-'));
const outputFile = join(folder, 'results.json');
const started = performance.now();
let passed = 0;
let failed = 0;
let skipped = 0;
/** One line or two for each failure, printed at the end: those of a long run are far above it. */
const failures: string[] = [];
try {
  if (jestArguments.length === 0 && (await prepares('hack/lint/main.ts'))) passed += 1;
  await prepares('hack/web.ts');
  // On a fresh machine the binaries are built first, with progress, not within some test's time limit.
  await prepares('cmd/carrel/main.ts', 'binaries');
  await prepares('hack/test-binaries.ts');
  const prepared = performance.now();
  // --forceExit: a program that a failed test left holds jest's pipes, and is ended below with all others of the run.
  const isGreen = await succeeds(
    ...RARE_COLLECTIONS,
    'node_modules/jest/bin/jest.js',
    '--forceExit',
    '--json',
    `--outputFile=${outputFile}`,
    ...jestArguments,
  );
  const results = read(outputFile);
  passed += results?.numPassedTests ?? 0;
  skipped += (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  // A run that breaks before or between its tests has failed, also when no single test did.
  const broken = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  failed += broken === 0 && !isGreen ? 1 : broken;
  if (results) failures.push(...failedTests(results.testResults, root));
  report(results, prepared);
} finally {
  rmSync(folder, { recursive: true, force: true });
  if (!isInterrupted) await run.end();
}
if (!isInterrupted) {
  for (const line of failures) say(line);
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  process.exit(failed === 0 ? 0 : 1);
}

/** Runs a program that the tests need. Counts its failure, and returns whether it succeeded. */
async function prepares(...args: readonly string[]): Promise<boolean> {
  if (await succeeds(...args)) return true;
  failed += 1;
  failures.push(`✕ ${args.join(' ')}`);
  return false;
}

/** Runs a program of ours to its end; flags of Node stand before its file. */
async function succeeds(...args: readonly string[]): Promise<boolean> {
  // Each of jest's workers loads most of the sources.
  const environment = {
    ...process.env,
    NODE_COMPILE_CACHE: compileCacheFolder(root),
    ...RARE_COLLECTIONS_OF_GO,
    ...run.environment,
  };
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: environment });
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
    child.once('error', () => resolve(1));
  });
  // The handler of the interruption waits for the end, and then exits.
  if (isInterrupted) await new Promise(() => {});
  return code === 0;
}

async function interrupt(signal: NodeJS.Signals): Promise<void> {
  if (isInterrupted) return;
  isInterrupted = true;
  say(`${signal}: ending everything that this run started`);
  const ended = await run.end();
  rmSync(folder, { recursive: true, force: true });
  say(`interrupted; ${ended} processes ended`);
  process.exit(128 + constants.signals[signal]);
}

/** Prints the slowest files, and the time that each spent outside of its tests (imports, beforeAll, afterAll). */
function report(results: Results | undefined, prepared: number): void {
  if (!results || jestArguments.length > 0) return;
  const files = results.testResults
    .map(({ name, startTime, endTime, assertionResults }) => {
      const tests = assertionResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0) / 1_000;
      const took = (endTime - startTime) / 1_000;
      return { file: relative(root, name), seconds: took, setUp: Math.max(0, took - tests) };
    })
    .toSorted((a, b) => b.seconds - a.seconds);
  const all = files.reduce((sum, file) => sum + file.seconds, 0);
  const setUp = files.reduce((sum, file) => sum + file.setUp, 0);
  say(`lint, pages and binaries took ${seconds(prepared - started)} s, the tests ${seconds(performance.now() - prepared)} s:`);
  say(
    `${files.length} files, ${all.toFixed(0)} s side by side, of which ${setUp.toFixed(0)} s before and after their ` +
      'tests. The slowest files:',
  );
  for (const file of files.slice(0, SLOWEST)) {
    say(`${file.seconds.toFixed(1).padStart(7)} s, set-up ${file.setUp.toFixed(1).padStart(5)} s  ${file.file}`);
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(0);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function read(file: string): Results | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch {
    return undefined;
  }
}
