/**
 * `make test [ARGS…]`: lint, then all lanes of tests on real parts, in one go.
 * The last line is `N passed, N failed, N skipped`; a check of lint that fails counts as one that failed. Exit 1 when anything failed.
 * Arguments go to jest: `node hack/test.ts --selectProjects unit`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Results {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numFailedTestSuites: number;
  numRuntimeErrorTestSuites: number;
}

const run = (command: string, args: string[], env: NodeJS.ProcessEnv = process.env): number =>
  spawnSync(command, args, { stdio: 'inherit', env }).status ?? 1;

const folder = mkdtempSync(join(tmpdir(), 'carrel-test-results-'));
const outputFile = join(folder, 'results.json');
const jestArguments = process.argv.slice(2);
let passed = 0;
let failed = 0;
let skipped = 0;

try {
  if (jestArguments.length === 0) {
    if (run(process.execPath, ['hack/lint/main.ts']) === 0) passed += 1;
    else failed += 1;
  }
  if (run(process.execPath, ['hack/web.ts']) !== 0) failed += 1;
  // On a fresh machine the parts are built first, with progress, not within some test's time limit.
  if (run(process.execPath, ['cmd/carrel/main.ts', 'parts']) !== 0) failed += 1;
  const env = {
    ...process.env,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
  };
  const status = run(process.execPath, ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${outputFile}`, ...jestArguments], env);
  const results = read(outputFile);
  passed += results?.numPassedTests ?? 0;
  skipped += (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  // A run that breaks before or between its tests has failed, also when no single test did.
  const broken = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  failed += broken === 0 && status !== 0 ? 1 : broken;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed === 0 ? 0 : 1);

function read(file: string): Results | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch {
    return undefined;
  }
}
