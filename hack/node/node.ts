import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { lastLine, type Outcome, run } from '../../pkg/local/binaries/run.ts';
import { CommandError, messageOf } from '../../pkg/runtime/command-error.ts';
import { type Lock, lock } from '../../pkg/local/lock.ts';
import { isAlive, signal } from '../../pkg/local/processes.ts';
import { CGROUPS, CONTROLLERS } from './allowed.ts';
import { writeConfiguration } from './configuration.ts';
import { writeCredentials } from './credentials.ts';
import { dnsObjects } from './dns.ts';
import { writeClusterImages } from './images.ts';
import { CGROUP, type Layout, layoutOf, NETWORK, NODE_NAME } from './layout.ts';
import { type NodeBinaries, ROOT } from './programs.ts';

type Say = (line: string) => void;

const START_LIMIT_MS = 60_000;
/** Longer than the tests on a node take. */
const CLAIM_LIMIT_MS = 15 * 60_000;
const COMMAND_LIMIT_MS = 300_000;
const POLL_MS = 100;

/**
 * A cluster of one node, with containerd and a kubelet that runs pods, in namespaces of its own. Root on Linux.
 *
 * Invariants:
 * - Everything runs below one process 1 of a pid namespace: its end is the end of all, and it ends with the process that made it.
 * - What lasts beyond processes (the link of the network, control groups, the folder) goes by `stop`, or at the next `start`.
 */
export class OneNodeCluster {
  readonly layout: Layout;
  readonly binaries: NodeBinaries;
  readonly #lock: Lock;
  #unshare: ChildProcess | undefined;
  #init: number | undefined;

  private constructor(layout: Layout, binaries: NodeBinaries, lock: Lock) {
    this.layout = layout;
    this.binaries = binaries;
    this.#lock = lock;
  }

  /**
   * Takes the machine's one place for such a cluster, once another has ended, and clears what one that was killed left. Throws
   * CommandError.
   */
  static async claim(binaries: NodeBinaries, say: Say): Promise<OneNodeCluster> {
    const layout = layoutOf(thisMachine(ROOT));
    const onWait = (pid: number): void => say(`waiting for another one-node cluster of this machine (process ${pid}) to end`);
    const cluster = new OneNodeCluster(layout, binaries, await lock(layout.lock, { timeoutMs: CLAIM_LIMIT_MS, onWait }));
    await cluster.#clean();
    mkdirSync(layout.scratch, { recursive: true, mode: 0o755 });
    return cluster;
  }

  /**
   * Starts the control plane, containerd, the kubelet and the cluster's DNS. Throws CommandError; `stop` then clears what there
   * is.
   */
  async start(say: Say): Promise<void> {
    try {
      await this.#start(say);
    } catch (error) {
      const log = this.#lastLog();
      throw new CommandError(`${messageOf(error)}${log === '' ? '' : `\n${log}`}`);
    }
  }

  async #start(say: Say): Promise<void> {
    const { layout, binaries } = this;
    writeCredentials(layout, new Date());
    writeConfiguration(layout, binaries);
    mkdirSync(layout.bin);
    symlinkSync(binaries.kubectl, join(layout.bin, 'kubectl'));
    makeCgroups();
    await this.#begin();
    await this.#connect();
    await this.#until('containerd', () => this.inside(binaries.ctr, ...CTR, 'version'));
    say('containerd answers');
    for (const folder of await writeClusterImages(binaries, layout.scratch)) await this.load(folder);
    await this.#until('the API server', () => this.#kubectl(['get', '--raw', '/readyz']));
    say('the API server answers');
    await this.inside('touch', '/run/apiserver-answers');
    await this.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'apiserver-kubelet' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kube-apiserver-kubelet-client' }],
    });
    await this.#until('the node', () => this.#kubectl(['get', 'node', NODE_NAME]));
    await this.kubectl('wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=90s');
    say('the node is Ready');
    await this.apply(...dnsObjects());
    await this.kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=90s');
    say('DNS answers');
  }

  /** Process 1, by setpriv so that it ends with this process, and by unshare, which ends its child when it ends. */
  async #begin(): Promise<void> {
    const { layout, binaries } = this;
    const namespaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--mount-proc', '--kill-child=KILL'];
    const named = Object.entries(binaries).map(([name, path]): [string, string] => [
      name.replaceAll('-', '_').toUpperCase(),
      path,
    ]);
    const log = openSync(join(layout.log, 'init.log'), 'w');
    this.#unshare = spawn(
      'setpriv',
      ['--pdeathsig=KILL', '--', 'unshare', ...namespaces, 'bash', join(import.meta.dirname, 'init.sh')],
      {
        stdio: ['ignore', log, log],
        // A group of its own: Ctrl-C is for this process, which then ends the cluster.
        detached: true,
        env: {
          ...Object.fromEntries(named),
          // containerd looks for its shim there, kube-proxy for nft.
          PATH:
            [...new Set([binaries['containerd-shim-runc-v2'], binaries.nft, binaries.runc].map((path) => dirname(path)))].join(
              ':',
            ) + `:${process.env['PATH']}`,
          HOME: '/root',
          FOLDER: layout.folder,
          PKI: layout.pki,
          ETC: layout.etc,
          LOG: layout.log,
          NODE_ADDRESS: NETWORK.nodeAddress,
          LINK_BITS: String(NETWORK.linkBits),
          SERVICES: NETWORK.services,
        },
      },
    );
    closeSync(log);
    const unshare = this.#unshare.pid;
    this.#init = await this.#until('process 1 of the cluster', () => {
      const [child] = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim().split(' ');
      const isInit = child !== undefined && child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('init.sh');
      return Promise.resolve(isInit ? Number(child) : undefined);
    });
  }

  /** A link between host and node, and the host's way to pods and Services. All go with the node's end of the link. */
  async #connect(): Promise<void> {
    const { link, hostAddress, nodeAddress, linkBits, pods, services } = NETWORK;
    await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(this.#init));
    await ip('address', 'add', `${hostAddress}/${linkBits}`, 'dev', link);
    await ip('link', 'set', link, 'up');
    for (const range of [pods, services]) await ip('route', 'add', range, 'via', nodeAddress, 'dev', link);
  }

  /** Imports an image: a folder with an OCI image layout, which is removed. */
  async load(folder: string): Promise<void> {
    const imports = [this.binaries.ctr, ...CTR, '--namespace', 'k8s.io', 'images', 'import', '--local', '-'];
    const script = 'set -o pipefail; folder=$1; shift; tar -C "$folder" -cf - . | "$@"';
    const flags = ['-c', script, 'bash', folder, 'nsenter', ...this.#namespaces, '--', ...imports];
    await must('ctr images import', await run('bash', flags, { timeoutMs: COMMAND_LIMIT_MS }));
    rmSync(folder, { recursive: true });
  }

  /** Gives an image of the node another name too. */
  async tag(reference: string, another: string): Promise<void> {
    await must(
      'ctr images tag',
      await this.inside(this.binaries.ctr, ...CTR, '--namespace', 'k8s.io', 'images', 'tag', reference, another),
    );
  }

  /** A volume of the node for one claim, `<namespace>/<name>`: there is no provisioner. */
  async addVolume(namespace: string, claim: string, size: string): Promise<void> {
    const path = join(this.layout.volumes, namespace, claim);
    mkdirSync(path, { recursive: true });
    await this.apply({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `${namespace}-${claim}` },
      spec: {
        capacity: { storage: size },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace, name: claim },
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] }] }],
          },
        },
      },
    });
  }

  /** Runs a program in the node's namespaces. */
  inside(command: string, ...args: string[]): Promise<Outcome> {
    return run('nsenter', [...this.#namespaces, '--', command, ...args], { timeoutMs: COMMAND_LIMIT_MS });
  }

  get #namespaces(): string[] {
    return ['-t', String(this.#init), '-m', '-n', '-p', '-u', '-i'];
  }

  /** kubectl as administrator; its output. Throws CommandError with its last line. */
  async kubectl(...args: string[]): Promise<string> {
    const outcome = await this.#kubectl(args);
    await must(`kubectl ${args.join(' ')}`, outcome);
    return outcome.stdout;
  }

  #kubectl(args: readonly string[]): Promise<Outcome> {
    return run(this.binaries.kubectl, ['--kubeconfig', this.layout.kubeconfig, ...args], { timeoutMs: COMMAND_LIMIT_MS });
  }

  /** Server-side apply of objects. Throws CommandError with the API server's reason. */
  async apply(...objects: object[]): Promise<void> {
    const file = join(this.layout.folder, 'apply.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await this.kubectl('apply', '--server-side', '--field-manager=test', '-f', file);
  }

  /** The first process of each container of a pod. */
  get containers(): number[] {
    const shims = this.processes.filter((pid) => commandOf(pid).startsWith(this.binaries['containerd-shim-runc-v2']));
    return shims.flatMap(childrenOf).filter((pid) => !commandOf(pid).startsWith('/pause'));
  }

  /** All that ends when a machine restarts: every process but process 1 and its loops, which start each program again. */
  get programs(): number[] {
    const loops = this.#init === undefined ? [] : childrenOf(this.#init).filter((pid) => commandOf(pid).startsWith('bash'));
    return this.processes.filter((pid) => pid !== this.#init && !loops.includes(pid));
  }

  /** The ids of all processes of the cluster. */
  get processes(): number[] {
    const children = (pid: number): number[] => {
      const own = childrenOf(pid);
      return [...own, ...own.flatMap(children)];
    };
    return this.#init === undefined ? [] : [this.#init, ...children(this.#init)];
  }

  /** Ends everything and leaves nothing behind. Throws CommandError where something is left. */
  async stop(): Promise<void> {
    try {
      await this.#clean();
    } finally {
      this.#lock.release();
    }
  }

  async #clean(): Promise<void> {
    if (this.#init !== undefined) signal(this.#init, 'SIGKILL');
    // Its child ends with it.
    else this.#unshare?.kill('SIGKILL');
    if (this.#unshare?.pid !== undefined)
      await this.#gone('the processes of the cluster', () => !isAlive(this.#unshare?.pid ?? 0));
    // Gone with the namespace already, but for a namespace that something still holds.
    if (existsSync(`/sys/class/net/${NETWORK.link}`)) await run('ip', ['link', 'delete', NETWORK.link]);
    for (const controller of [...CONTROLLERS, 'unified']) {
      const folder = join(CGROUPS, controller, CGROUP);
      await this.#gone(`the control group ${folder}`, () => removeCgroup(folder));
    }
    rmSync(this.layout.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: POLL_MS });
  }

  async #gone(what: string, isGone: () => boolean): Promise<void> {
    const deadline = performance.now() + START_LIMIT_MS;
    while (!isGone()) {
      if (performance.now() > deadline) throw new CommandError(`${what} did not go`);
      await sleep(POLL_MS);
    }
  }

  async #until<T extends Outcome | number | undefined>(what: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (let failure = ''; ; await sleep(POLL_MS)) {
      try {
        const answer = await ask();
        if (typeof answer === 'number') return answer;
        if (answer?.code === 0) return answer;
        failure = answer === undefined ? '' : lastLine(answer.output);
      } catch (error) {
        failure = messageOf(error);
      }
      const ended = this.#unshare?.exitCode ?? this.#unshare?.signalCode ?? null;
      if (ended !== null) throw new CommandError(`process 1 of the cluster ended with ${ended}`);
      if (performance.now() > deadline)
        throw new CommandError(`${what} did not come within ${START_LIMIT_MS / 1_000} s (${failure})`);
    }
  }

  /** The last line of each program's log, to say why the cluster did not start. */
  #lastLog(): string {
    if (!existsSync(this.layout.log)) return '';
    const names = readdirSync(this.layout.log).filter((name) => name.endsWith('.log'));
    return names
      .map((name) => `  ${name}: ${lastLine(readFileSync(join(this.layout.log, name), 'utf8')).slice(0, 300)}`)
      .join('\n');
  }
}

const CTR = ['--address', '/run/containerd/containerd.sock'];

async function must(what: string, { code, output }: Outcome): Promise<void> {
  if (code !== 0) throw new CommandError(`${what} failed: ${lastLine(output)}`);
}

const ip = async (...args: string[]): Promise<void> => must(`ip ${args.join(' ')}`, await run('ip', args));

/** The pods' group in each hierarchy. A new cpuset allows no core until one is written. */
function makeCgroups(): void {
  for (const controller of CONTROLLERS) mkdirSync(join(CGROUPS, controller, CGROUP), { recursive: true });
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(CGROUPS, 'cpuset', CGROUP, file), readFileSync(join(CGROUPS, 'cpuset', file)));
}

/** Removes the group and all below it. Returns false when the group stays because processes are still in it. */
function removeCgroup(folder: string): boolean {
  if (!existsSync(folder)) return true;
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const entry of below) removeCgroup(join(folder, entry.name));
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** The command line of a process; empty where it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // ended meanwhile
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter((text) => text !== '')
        .map(Number),
    );
  } catch {
    return []; // ended meanwhile
  }
}
