import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SCHOOL_NAMESPACE, type SharedAccess, type SharedName } from './shared-cluster-access.ts';

export interface SharedClusters {
  /** The address at which jest's workers ask for them. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Runs in the process of jest that outlives its workers. A cluster starts when the first file asks for it. */
export async function serveSharedClusters(): Promise<SharedClusters> {
  const started = new Map<string, Promise<{ access: SharedAccess; close(): Promise<void> }>>();
  const start = (name: SharedName) => {
    const starting = started.get(name) ?? startShared(name);
    started.set(name, starting);
    return starting;
  };
  const server = createServer((request, response) => {
    start(request.url === '/operated' ? 'operated' : 'idle').then(
      ({ access }) => response.end(JSON.stringify(access)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      for (const starting of started.values()) await (await starting.catch(() => undefined))?.close();
    },
  };
}

async function startShared(name: SharedName): Promise<{ access: SharedAccess; close(): Promise<void> }> {
  // Most runs of few files need none of it.
  const { playPods, startCluster, startOperator } = await import('./operator.ts');
  const cluster = await startCluster();
  if (name === 'operated') {
    playPods(cluster);
    await startOperator(cluster, { env: { CARREL_ALLOWED_HOSTS: `example.org,${SCHOOL_NAMESPACE}=school.example` } });
  }
  const { api, operatorConfig, close } = cluster;
  return { access: { url: api.url, admin: api.kubeConfig.exportConfig(), operator: operatorConfig.exportConfig() }, close };
}
