import { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { createAuthority, createCertificate } from '../../pkg/local/programs/certificates.ts';
import { Lms } from '../../pkg/local/demo/lms/lms.ts';
import { kubectlOk } from '../support/programs/platform.ts';
import type { Installation } from './installation.ts';
import { CONTAINER, OUTSIDE, POD } from './receiver.ts';

const LMS_NAME = 'lms.outside.svc.cluster.local';
const LABELS = { app: 'lms' };
const TUNNEL_PORT = 9000;
/** Connections of clients that may come at once. */
const TUNNELS = 8;

/** Joins each client with a connection that the test opened: pods open none to the host (hack/node/init.sh). */
const PROGRAM = `
const { createServer } = require('node:net');
const clients = [], tunnels = [];
const join = () => {
  while (clients.length > 0 && tunnels.length > 0) {
    const [client, tunnel] = [clients.shift(), tunnels.shift()];
    client.pipe(tunnel).pipe(client);
    client.once('close', () => tunnel.destroy());
    tunnel.once('close', () => client.destroy());
  }
};
for (const [port, list] of [[8443, clients], [${TUNNEL_PORT}, tunnels]])
  createServer((socket) => {
    socket.on('error', () => {});
    socket.once('close', () => list.includes(socket) && list.splice(list.indexOf(socket), 1));
    list.push(socket);
    join();
  }).listen(port);
process.on('SIGTERM', () => process.exit(0));
`;

const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'lms', namespace: OUTSIDE, labels: LABELS },
    spec: {
      automountServiceAccountToken: false,
      securityContext: POD,
      containers: [
        {
          name: 'lms',
          image: 'carrel:0.1.0',
          imagePullPolicy: 'Never',
          command: ['node', '--eval', PROGRAM],
          readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 },
          securityContext: CONTAINER,
        },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'lms', namespace: OUTSIDE },
    spec: { selector: LABELS, ports: [{ port: 443, targetPort: 8443, protocol: 'TCP' }] },
  },
];

/** An LMS of this process that pods reach in the cluster, at a private address. */
export interface NodeLms {
  readonly lms: Lms;
  /** The port on 127.0.0.1 at which a browser of this process reaches it. */
  readonly port: number;
  /** The certificate of connections from now on, by the authority of the installation or by another; those before are ended. */
  present(by: 'ours' | 'theirs'): void;
  stop(): Promise<void>;
}

export async function startLms({ authority, cluster, platform }: Installation): Promise<NodeLms> {
  const certificateBy = (by: typeof authority) => {
    const { certificate: cert, key } = createCertificate(by, { commonName: 'lms' }, [LMS_NAME], new Date());
    return { cert, key };
  };
  const certificates = { ours: certificateBy(authority), theirs: certificateBy(createAuthority('somebody else', new Date())) };
  const lms = new Lms(`https://${LMS_NAME}`);
  const server = createServer(certificates.ours, (request, response) => lms.answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await cluster.apply(...OBJECTS);
  await kubectlOk(platform, ['-n', OUTSIDE, 'wait', '--for=condition=Ready', 'pod/lms', '--timeout=90s']);
  const host = await kubectlOk(platform, ['-n', OUTSIDE, 'get', 'pod', 'lms', '-o', 'jsonpath={.status.podIP}']);
  const stopTunnels = openTunnels(host, port);
  return {
    lms,
    port,
    present: (by) => {
      server.setSecureContext(certificates[by]);
      server.closeAllConnections();
    },
    stop: async () => {
      stopTunnels();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await kubectlOk(platform, ['-n', OUTSIDE, 'delete', 'pod/lms', 'service/lms', '--grace-period=1']);
    },
  };
}

/** Trusts every certificate: what is refused is refused by Carrel. Each request has a connection of its own. */
export function browserAt(port: number): Agent {
  const dial = buildConnector({
    rejectUnauthorized: false,
    lookup: (name, options, callback) => lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, options, callback),
  });
  return new Agent({
    pipelining: 0,
    connect: (to, done) => dial(to.hostname === LMS_NAME ? { ...to, hostname: '127.0.0.1', port: String(port) } : to, done),
  });
}

/** Connections to the pod, each of which carries one of a client to `port` here and is then replaced. Returns what ends them. */
function openTunnels(host: string, port: number): () => void {
  const open = new Set<ReturnType<typeof connect>>();
  let isStopped = false;
  const begin = (): void => {
    const tunnel = connect({ host, port: TUNNEL_PORT });
    open.add(tunnel);
    tunnel
      .on('error', () => undefined)
      .once('close', () => {
        open.delete(tunnel);
        if (!isStopped) begin();
      });
    tunnel.once('data', (first) => {
      const local = connect({ host: '127.0.0.1', port });
      local.on('error', () => undefined).once('close', () => tunnel.destroy());
      tunnel.once('close', () => local.destroy());
      local.write(first);
      tunnel.pipe(local).pipe(tunnel);
    });
  };
  for (let count = 0; count < TUNNELS; count += 1) begin();
  return () => {
    isStopped = true;
    for (const tunnel of open) tunnel.destroy();
  };
}
