import { dirname } from 'node:path';
import { NODE_BINARIES, type NodeBinaryName } from '../../pkg/local/binaries/binaries.ts';
import { resolveBinary, thisMachine } from '../../pkg/local/binaries/resolve.ts';

export const ROOT = dirname(dirname(import.meta.dirname));
const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
export type NodeBinaries = Readonly<Record<NodeBinaryName | (typeof CONTROL_PLANE)[number], string>>;

/** Returns the programs of the cluster. Builds the missing ones, which takes some minutes once. */
export async function nodeBinaries(say: (line: string) => void): Promise<NodeBinaries> {
  const found: Partial<Record<keyof NodeBinaries, string>> = {};
  for (const name of [...CONTROL_PLANE, ...NODE_BINARIES])
    found[name] = await resolveBinary(name, thisMachine(ROOT), (line) => {
      if (/^(building|downloading|installing|waiting)/.test(line)) say(line);
    });
  return found as NodeBinaries;
}
