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
  const started = new Map<string, Promise<Shared>>();
  const start = (name: SharedName) => {
    const starting = started.get(name) ?? startShared(name);
    started.set(name, starting);
    return starting;
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shared');
    start(pathname === '/operated' ? 'operated' : 'idle').then(
      ({ access, log }) => response.end(searchParams.has('log') ? log() : JSON.stringify(access)),
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

interface Shared {
  readonly access: SharedAccess;
  /** Returns the end of the operator's log. */
  log(): string;
  close(): Promise<void>;
}

const LOG_MAX = 4_000;

async function startShared(name: SharedName): Promise<Shared> {
  // Most runs of few files need none of it.
  const { playPods, startCluster, startOperator } = await import('./operator.ts');
  const cluster = await startCluster();
  let log = (): string => '';
  if (name === 'operated') {
    playPods(cluster);
    const env = { CARREL_ALLOWED_HOSTS: `example.org,${SCHOOL_NAMESPACE}=school.example` };
    const { output, gone } = await startOperator(cluster, { env });
    let end = '';
    void gone.then((code) => (end = `\nIt has ended, with code ${code}.`));
    log = () => output().slice(-LOG_MAX) + end;
  }
  const { api, operatorConfig, close } = cluster;
  const access = { url: api.url, admin: api.kubeConfig.exportConfig(), operator: operatorConfig.exportConfig() };
  return { access, log, close };
}
