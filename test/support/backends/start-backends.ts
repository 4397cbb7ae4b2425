import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { startStores } from '../../../pkg/local/platform.ts';
import { openStateDirectory } from '../../../pkg/local/state-directory.ts';
import { BACKENDS_VARIABLE, makeScratch, ROOT, type TestBackends } from './backends.ts';
import { makeClusterTemplate, withCluster } from './cluster-template.ts';
import { serveSharedClusters } from '../cluster/shared-clusters.ts';

/** Starts the stores in a new state directory, without fsync. Returns a function that stops them and removes the directory. */
export async function startTestBackends(): Promise<() => Promise<void>> {
  const scratch = await makeScratch();
  const machine = thisMachine(ROOT);
  const cluster = await makeClusterTemplate(join(scratch, 'template'), machine);
  const stateDirectory = await withCluster(await openStateDirectory(join(scratch, 'state'), { routerPort: 0 }), cluster);
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const stores = await startStores({ stateDirectory, machine, durable: false, progress });
  const { stop: _stop, supervisor: _supervisor, ...addresses } = stores;
  const clusters = await serveSharedClusters();
  const found: TestBackends = {
    stores: addresses,
    stateDirectory: stateDirectory.path,
    scratch,
    clusters: clusters.address,
    cluster,
  };
  process.env[BACKENDS_VARIABLE] = JSON.stringify(found);
  return async () => {
    delete process.env[BACKENDS_VARIABLE];
    await clusters.stop();
    await stores.stop();
    await rm(scratch, { recursive: true, force: true });
  };
}
