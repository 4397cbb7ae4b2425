import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { resolveBinary, thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { ROOT } from './programs.ts';

/** Programs that are not built here. */
const OF_THE_MACHINE = ['runc', 'nft', 'psql'] as const;
const TOOLS = ['bash', 'ip', 'ldd', 'mount', 'nsenter', 'setpriv', 'tar', 'unshare'];
/** The controllers that the kubelet needs. Each is a hierarchy of its own (cgroup v1). */
export const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];
export const CGROUPS = '/sys/fs/cgroup';

/**
 * Returns, in a few words, why this machine cannot run the one-node cluster, or undefined when it can. Installs missing Debian
 * packages.
 */
export async function reasonAgainst(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root';
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const missing = TOOLS.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (missing.length > 0) return `${missing.join(', ')} not on the PATH`;
  const unmounted = CONTROLLERS.filter((name) => !existsSync(join(CGROUPS, name, 'cgroup.procs')));
  // Cgroup v2 alone would need another way to make the pods' folder and its controllers.
  if (unmounted.length > 0) return `it needs the hierarchies of cgroup v1, and ${unmounted.join(', ')} not in ${CGROUPS}`;
  if (!inNamespaces('true')) return 'this process may not make namespaces (a container that is not privileged)';
  if (!inNamespaces('ip link add name probe0 type veth peer name probe1')) return 'the kernel makes no veth links';
  const readOnly = CONTROLLERS.find((name) => !isWritable(join(CGROUPS, name)));
  if (readOnly !== undefined) return `${join(CGROUPS, readOnly)} is read-only`;
  if (!existsSync(`/proc/self/task/${process.pid}/children`)) return 'the kernel does not list the children of a process';
  const found: Record<string, string> = {};
  for (const name of OF_THE_MACHINE) {
    try {
      found[name] = await resolveBinary(name, thisMachine(ROOT, env));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return error.message;
    }
  }
  if (!inNamespaces(`${found['nft']} list ruleset`)) return 'the kernel has no nftables';
  return undefined;
}

/** Returns true when the command succeeds in namespaces of its own. */
function inNamespaces(command: string): boolean {
  const args = ['--mount', '--pid', '--net', '--fork', '--mount-proc', 'sh', '-c', command];
  return spawnSync('unshare', args, { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

function isWritable(hierarchy: string): boolean {
  const probe = join(hierarchy, `carrel-probe-${process.pid}`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    return false;
  }
}
