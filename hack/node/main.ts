/**
 * A cluster of one node on this machine, without an engine and without a registry: `node hack/node/main.ts`. It prints what to
 * export for kubectl, and runs until Ctrl-C.
 */
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { reasonAgainst } from './allowed.ts';
import { OneNodeCluster } from './node.ts';
import { nodeBinaries } from './programs.ts';

const reason = await reasonAgainst();
if (reason !== undefined) {
  process.stderr.write(`node: this machine cannot run it: ${reason}\n`);
  process.exit(1);
}
const say = (line: string): void =>
  void process.stderr.write(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);
let cluster: OneNodeCluster | undefined;
const stop = async (code: number): Promise<void> => {
  await cluster?.stop();
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
try {
  cluster = await OneNodeCluster.claim(await nodeBinaries(say), say);
  await cluster.start(say);
  process.stdout.write(`export KUBECONFIG=${cluster.layout.kubeconfig} PATH=${cluster.layout.bin}:$PATH\n`);
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`node: ${error.message}\n`);
  await stop(1);
}
