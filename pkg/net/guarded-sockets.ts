import type { Socket } from 'node:net';
import { guardedConnector, type GuardedConnectorOptions } from './guarded-connector.ts';

interface GuardedSocketsOptions extends Omit<GuardedConnectorOptions, 'connectMs' | 'plainHttpAnywhere'> {
  readonly connectMs?: number;
}

/** The target of a connection; `protocol` is `http:` or `https:`. */
interface SocketTarget {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

const CONNECT_MS = 2_000;

/**
 * Opens connections for third-party clients that accept a socket (the S3 client's agents), as the guarded client opens its own:
 * only public addresses or those in `allow`, https outside of `allow`, the peer checked before anything is sent. Rejects with
 * EgressError.
 */
export function guardedSockets(options: GuardedSocketsOptions): (target: SocketTarget) => Promise<Socket> {
  const connect = guardedConnector({ connectMs: CONNECT_MS, ...options, plainHttpAnywhere: false });
  return (target) =>
    new Promise((resolve, reject) =>
      connect(target, (error, socket) => (socket === null ? reject(error as Error) : resolve(socket))),
    );
}
