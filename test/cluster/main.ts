/**
 * `make e2e-kind` runs it after `make kind-up`: what a person does on a cluster where Carrel is installed, the cluster that
 * KUBECONFIG names. `make test-node` does the same on its own cluster. The last line is `e2e-kind: passed` with the time, or what
 * failed; exit 1 then.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '../../pkg/runtime/command-error.ts';
import { worksFromOutside } from './outside.ts';

if (process.argv.includes('--help')) {
  process.stdout.write(
    'usage: KUBECONFIG=<file> node test/cluster/main.ts\n\nNeeds kubectl, and Carrel on that cluster. It makes a ' +
      'namespace and removes it.\n',
  );
  process.exit(0);
}
const kubeconfig = process.env['KUBECONFIG'];
if (!kubeconfig) {
  process.stderr.write('e2e-kind: KUBECONFIG is not set. Start a cluster by make kind-up\n');
  process.exit(1);
}
const started = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'carrel-cluster-'));
try {
  mkdirSync(join(folder, 'bin'));
  symlinkSync(execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim(), join(folder, 'bin/kubectl'));
  symlinkSync(resolve(kubeconfig), join(folder, 'kubeconfig'));
  await worksFromOutside({ stateDirectory: folder, port: 0 });
  process.stdout.write(`e2e-kind: passed in ${((performance.now() - started) / 1_000).toFixed(0)} s\n`);
} catch (error) {
  process.stderr.write(`e2e-kind: failed: ${messageOf(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
