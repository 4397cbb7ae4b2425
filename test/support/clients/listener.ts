import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A port of this machine that notes whether anything arrives. */
export interface Listener {
  readonly port: number;
  hasHeard(): boolean;
  stop(): void;
}

const PAGE = '<!doctype html><title>x</title><body>';

/** Notes every connection, and answers whatever HTTP asks by an empty page. */
export async function listenByTcp(): Promise<Listener> {
  let heard = false;
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  server.on('connection', () => (heard = true));
  server.on('clientError', (_error, socket) => socket.destroy()); // what is not HTTP
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, hasHeard: () => heard, stop };
}

/** Notes every datagram, and answers none. */
export async function listenByUdp(): Promise<Listener> {
  let heard = false;
  const socket = createSocket('udp4');
  socket.on('message', () => (heard = true));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, hasHeard: () => heard, stop: () => socket.close() };
}
