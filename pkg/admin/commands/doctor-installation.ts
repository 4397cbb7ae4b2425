import type { Installation } from '../installation.ts';
import { type Check, type Finding, findingOf, linesOf } from '../doctor/check.ts';
import { clusterChecks } from '../doctor/cluster.ts';
import { storeChecks } from '../doctor/stores.ts';

interface Options {
  readonly installation: Installation;
}

/**
 * Checks a whole installation and prints a line for each part: what is well, and what is wrong and how to repair it. Returns true
 * if nothing is wrong. Changes nothing. Throws CommandError if no installation is found.
 */
export async function checkInstallation({ installation }: Options): Promise<boolean> {
  const stores = await installation.stores();
  const client = await installation.cluster();
  try {
    const checks: Check[] = [
      ...storeChecks(stores),
      ...clusterChecks(client, installation.operatorNamespace, installation.tenantNamespaces),
    ];
    const findings: Finding[] = [];
    for (const check of checks) {
      const finding = await findingOf(check);
      findings.push(finding);
      for (const line of linesOf(finding)) process.stdout.write(`${line}\n`);
    }
    const faults = findings.reduce((sum, { wrong = [] }) => sum + wrong.length, 0);
    process.stdout.write(faults === 0 ? 'Nothing is wrong.\n' : `${faults} ${faults === 1 ? 'thing is' : 'things are'} wrong.\n`);
    return faults === 0;
  } finally {
    await client.close();
  }
}
