import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { Deadline } from './deadline.ts';
import { EgressError } from './egress-error.ts';
import { type AllowedRange, isPrivateAddress, isLocalhost, isOpened, LOOPBACK } from './private-address.ts';
import { type Resolve, systemResolver } from './resolve.ts';

/** Opens a TCP connection. A test passes its own to simulate other routes. */
export type OpenSocket = (to: { host: string; port: number }) => Socket;

export interface GuardedConnectorOptions {
  /** Private ranges that may be reached (`parseAllowedRanges`). */
  readonly allow: readonly AllowedRange[];
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  readonly openSocket?: OpenSocket | undefined;
  /** Limit for name resolution, connection and TLS together, in milliseconds. */
  readonly connectMs: number;
  /** True if http may go to addresses that no allowed range opens. */
  readonly plainHttpAnywhere: boolean;
  /** Certificate authorities trusted beside Node's own, in PEM. */
  readonly ca?: readonly string[] | undefined;
}

interface DialOptions extends GuardedConnectorOptions {
  readonly resolve: Resolve;
  readonly openSocket: OpenSocket;
  readonly secureContext: SecureContext | undefined;
}

/** At most this many addresses of one host are tried; every address is checked against the egress policy. */
const MAX_DIALLED_ADDRESSES = 4;

const openTcp: OpenSocket = ({ host, port }) =>
  connectTcp({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });

/**
 * Opens the connections of the guarded client.
 *
 * Invariants:
 * - Only a checked IP address is dialled; the name is never resolved a second time.
 * - A name with at least one private address is refused.
 * - Nothing is sent, not even a TLS greeting, before the address of the connected peer was checked.
 * - TLS always verifies the certificate against the URL's host; no environment variable disables this.
 */
export function guardedConnector(given: GuardedConnectorOptions): buildConnector.connector {
  const { resolve = systemResolver(), openSocket = openTcp, ca } = given;
  const secureContext = ca && createSecureContext({ ca: [...getCACertificates('default'), ...ca] });
  const options = { ...given, resolve, openSocket, secureContext };
  return ({ hostname, protocol, port }, done) => {
    const isSecure = protocol === 'https:';
    dial(options, { host: hostname, isSecure, port: Number(port || (isSecure ? 443 : 80)) }).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, null),
    );
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

async function dial(options: DialOptions, target: Target): Promise<Socket> {
  const deadline = new Deadline(options.clock);
  deadline.expireIn(
    options.connectMs,
    () => new EgressError('connect_timeout', `${target.host} did not accept a connection within ${options.connectMs} ms`),
  );
  try {
    const addresses = await deadline.race(checkedAddresses(options, target));
    const socket = await dialOneOf(options, target, addresses, deadline.signal);
    return target.isSecure ? await secured(options, target, socket, deadline.signal) : socket;
  } finally {
    deadline.end();
  }
}

/** Returns the addresses of a host if all of them may be dialled. */
async function checkedAddresses(options: DialOptions, target: Target): Promise<string[]> {
  const addresses = await addressesOf(options.resolve, target.host);
  if (addresses.some((address) => isPrivateAddress(address, options.allow))) throw leadsToPrivateAddress(target.host, addresses);
  if (!target.isSecure && !options.plainHttpAnywhere && !addresses.every((address) => isOpened(address, options.allow))) {
    throw new EgressError('plain_http_refused', `${target.host} is reachable only by https`);
  }
  return addresses.slice(0, MAX_DIALLED_ADDRESSES);
}

async function addressesOf(resolve: Resolve, host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (isLocalhost(host)) return [...LOOPBACK];
  try {
    const addresses = [...new Set(await resolve(host))];
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw new EgressError('dns_failed', `${host} does not resolve to an address`, { cause });
  }
  throw new EgressError('dns_failed', `${host} does not resolve to an address`);
}

/**
 * Connects to the first address that accepts. Each address gets an equal share of the remaining time, so that an unreachable one
 * does not use all of it.
 */
async function dialOneOf(options: DialOptions, target: Target, addresses: string[], signal: AbortSignal): Promise<Socket> {
  const end = options.clock.monotonic() + options.connectMs;
  let cause: unknown;
  for (const [index, host] of addresses.entries()) {
    const attempt = new Deadline(options.clock, signal);
    const isLast = index === addresses.length - 1;
    if (!isLast)
      attempt.expireIn((end - options.clock.monotonic()) / (addresses.length - index), () => new Error(`${host} did not answer`));
    try {
      const socket = await once('connect', options.openSocket({ host, port: target.port }), attempt.signal);
      return checkedPeer(socket, target.host, options.allow);
    } catch (error) {
      if (error instanceof EgressError) throw error;
      cause = error;
    } finally {
      attempt.end();
    }
  }
  throw new EgressError('connect_failed', `${target.host} accepts no connection on port ${target.port}`, { cause });
}

function checkedPeer(socket: Socket, host: string, allow: readonly AllowedRange[]): Socket {
  const peer = socket.remoteAddress;
  if (peer !== undefined && !isPrivateAddress(peer, allow)) return socket;
  socket.destroy();
  if (peer === undefined) throw new Error('the connection ended at once');
  throw leadsToPrivateAddress(host, [peer]);
}

async function secured(options: DialOptions, target: Target, socket: Socket, signal: AbortSignal): Promise<Socket> {
  const tls = connectTls({
    socket,
    host: target.host,
    ...(isIP(target.host) === 0 ? { servername: target.host.replace(/\.$/, '') } : {}),
    ...(options.secureContext ? { secureContext: options.secureContext } : {}),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // NODE_TLS_REJECT_UNAUTHORIZED does not affect this client
  });
  try {
    return await once('secureConnect', tls, signal);
  } catch (cause) {
    socket.destroy();
    if (cause instanceof EgressError) throw cause;
    const code = String((cause as { code?: unknown }).code);
    if (code === 'ECONNRESET')
      throw new EgressError('connect_failed', `${target.host} ended the connection during TLS`, { cause });
    throw new EgressError('tls_failed', `${target.host} has no valid TLS certificate or does not speak TLS (${code})`, { cause });
  }
}

/**
 * Returns the socket when it is ready; destroys it if it fails or the signal fires. Later errors are ignored: undici notices them
 * by `close`.
 */
function once<T extends Socket>(event: 'connect' | 'secureConnect', socket: T, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => {
      signal.removeEventListener('abort', stop);
      resolve(socket);
    };
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', stop);
      reject(error);
    };
    const stop = (): void => {
      socket.destroy();
      fail(signal.reason as Error);
    };
    socket.on('error', fail).once(event, give);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Only the cause contains the addresses: a tenant must not learn what an internal name resolves to. */
const leadsToPrivateAddress = (host: string, addresses: string[]): EgressError =>
  new EgressError('address_refused', `${host} leads to a private address`, { cause: new Error(addresses.join(', ')) });
