import type { Socket } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import { guardedConnector, type OpenSocket, openTcp } from './guarded-connector.ts';
import type { AllowedRange } from './private-address.ts';
import { type Resolve, systemResolver } from './resolve.ts';

export interface GuardedSocketsOptions {
  /** Private ranges that may be reached (`parseAllowedRanges`). */
  readonly allow: readonly AllowedRange[];
  readonly clock: Clock;
  readonly connectMs?: number;
  /** Certificate authorities trusted beside Node's own, in PEM. */
  readonly ca?: readonly string[];
  readonly resolve?: Resolve;
  readonly openSocket?: OpenSocket;
}

/** The target of a connection; `protocol` is `http:` or `https:`. */
export interface SocketTarget {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

const CONNECT_MS = 2_000;

/**
 * Connections for clients of others that take a socket (the S3 client's agents), opened as the guarded client opens its own: public addresses or those
 * in `allow` only, https outside of `allow`, the peer checked before anything is sent. Rejects with EgressError.
 */
export function guardedSockets(options: GuardedSocketsOptions): (target: SocketTarget) => Promise<Socket> {
  const connect = guardedConnector({
    allow: options.allow,
    clock: options.clock,
    resolve: options.resolve ?? systemResolver(),
    openSocket: options.openSocket ?? openTcp,
    connectMs: options.connectMs ?? CONNECT_MS,
    plainHttpAnywhere: false,
    secureContext: options.ca && createSecureContext({ ca: [...getCACertificates('default'), ...options.ca] }),
  });
  return (target) =>
    new Promise((resolve, reject) => connect(target, (error, socket) => (socket === null ? reject(error as Error) : resolve(socket))));
}
