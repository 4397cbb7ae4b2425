/**
 * `make test-node` runs Carrel's image and chart on a real kubelet. It starts a cluster of one node on this machine (hack/node),
 * installs the chart with its stores by the lines of docs/operate/install.md, and does what people do: a tenant, a file, a
 * webhook, an upgrade under load. The last line is `N passed, N failed` with the time. Exits with 1 when anything failed. On a
 * machine that does not allow it, it prints one line and exits with 0.
 */
import { parseArgs } from 'node:util';
import { reasonAgainst } from '../../hack/node/allowed.ts';
import { OneNodeCluster } from '../../hack/node/node.ts';
import { nodeBinaries } from '../../hack/node/programs.ts';
import { CommandError, messageOf } from '../../pkg/runtime/command-error.ts';
import { Installation } from './installation.ts';
import { memoryOf } from './memory.ts';
import { STEPS, tenantIsDeleted } from './steps.ts';

const HELP = `usage: make test-node, or: node test/node/main.ts [--keep]

Runs pods of Carrel on a cluster of one node, without a container engine and without a registry.
Needs root on Linux with cgroup v1. The first run builds the programs, which takes about eight minutes.
--keep leaves the cluster as it is until Ctrl-C, to look at it.
`;

const { values: options } = parseArgs({ options: { help: { type: 'boolean', short: 'h' }, keep: { type: 'boolean' } } });
if (options.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const reason = await reasonAgainst();
if (reason !== undefined) {
  process.stdout.write(`test-node: skipped, since this machine does not allow it: ${reason}\n`);
  process.exit(0);
}

const started = performance.now();
let last = started;
let passed = 0;
/** The present step, as the line that is printed if it fails. */
let current = 'the cluster’s programs are built';
let failed = 0;
let installation: Installation | undefined;
let cluster: OneNodeCluster | undefined;
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt(signal));

try {
  const binaries = await nodeBinaries(say);
  last = performance.now();
  current = 'the cluster starts';
  cluster = await OneNodeCluster.claim(binaries, say);
  // Files that other code writes are removed with the cluster too.
  process.env['TMPDIR'] = cluster.layout.scratch;
  installation = new Installation(cluster, say);
  await cluster.start(say);
  for (const { title, run } of STEPS) {
    current = title;
    if (run === tenantIsDeleted) printMemory(cluster);
    await run(installation);
    passed += 1;
    say(`✔ ${title}`);
  }
} catch (error) {
  if (!isInterrupted) {
    failed += 1;
    say(`✘ ${current}`);
    process.stderr.write(
      `${error instanceof CommandError ? error.message : String(error instanceof Error ? (error.stack ?? error) : error)}\n`,
    );
    if (error instanceof Error && error.cause !== undefined) process.stderr.write(`because: ${messageOf(error.cause)}\n`);
    if (installation) process.stderr.write(`${await installation.picture()}\n`);
  }
}
if (isInterrupted) await new Promise(() => {});
if (options.keep && cluster) {
  process.stderr.write(`export KUBECONFIG=${cluster.layout.kubeconfig} PATH=${cluster.layout.bin}:$PATH\n`);
  await new Promise(() => setInterval(() => {}, 60_000));
}
await end();
process.stdout.write(
  `test-node: ${passed} passed, ${failed} failed in ${((performance.now() - started) / 1_000).toFixed(0)} s\n`,
);
process.exit(failed === 0 ? 0 : 1);

/** While all that was started runs. */
function printMemory({ processes }: OneNodeCluster): void {
  for (const line of memoryOf(processes)) process.stderr.write(`          ${line}\n`);
}

/** Whatever is left behind is a failure. */
async function end(): Promise<void> {
  try {
    await installation?.close();
    await cluster?.stop();
  } catch (error) {
    failed += 1;
    process.stderr.write(`${String(error)}\n`);
  }
}

async function interrupt(signal: NodeJS.Signals): Promise<void> {
  if (isInterrupted) return;
  isInterrupted = true;
  say(`${signal}: ending the cluster`);
  await end();
  process.stdout.write('test-node: interrupted\n');
  process.exit(130);
}

/** Prints a line with the time since the previous one. */
function say(line: string): void {
  const now = performance.now();
  process.stderr.write(`${((now - last) / 1_000).toFixed(1).padStart(8)} s  ${line}\n`);
  last = now;
}
