/**
 * Builds what only the tests of the chart, its alerts and the custom resources use: `node hack/test-binaries.ts`. On a fresh
 * machine it takes minutes, which no test's time limit has. A binary that is unavailable is one line and exit 1.
 */
import { dirname } from 'node:path';
import { CommandError } from '../pkg/runtime/command-error.ts';
import { resolveBinary, thisMachine } from '../pkg/local/binaries/resolve.ts';

try {
  for (const name of ['helm', 'helm3', 'kubeconform', 'promrules', 'kstatus'] as const)
    await resolveBinary(name, thisMachine(dirname(import.meta.dirname)), (line) => {
      if (/^(building|downloading|waiting)/.test(line)) process.stderr.write(`${line}\n`);
    });
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
