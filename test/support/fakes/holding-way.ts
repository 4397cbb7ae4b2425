import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A way to a store on which some requests are held once they are wholly received. */
export interface HoldingWay {
  readonly url: string;
  /** The requests that are held. */
  readonly held: number;
  /** Those of `held` requests whose sender has gone. */
  readonly abandoned: number;
  /** Passes the held requests on, although their senders may have gone, and resolves when the store has answered all of them. */
  release(): Promise<void>;
  close(): void;
}

/** It stands for a store that finishes what it has received, whether or not somebody waits for the answer. */
export async function holdingWay(target: URL, isHeld: (request: IncomingMessage, body: Buffer) => boolean): Promise<HoldingWay> {
  const held: (() => Promise<void>)[] = [];
  let abandoned = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    const pass = async (body: Buffer): Promise<void> => {
      const { method, url: path, headers } = request;
      const far = httpRequest({ host: target.hostname, port: target.port, method, path, headers });
      far.end(body);
      const [reply] = (await once(far, 'response')) as [IncomingMessage];
      const answer = await buffer(reply);
      if (!response.destroyed) response.writeHead(reply.statusCode ?? 500, reply.headers).end(answer);
    };
    const receive = async (): Promise<void> => {
      const body = await buffer(request);
      if (!isHeld(request, body)) return pass(body);
      response.once('close', () => {
        if (!response.writableEnded) abandoned += 1;
      });
      held.push(() => pass(body));
    };
    receive().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get held() {
      return held.length;
    },
    get abandoned() {
      return abandoned;
    },
    release: async () => void (await Promise.all(held.splice(0).map((pass) => pass()))),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The request that makes an object of one part. */
export const isPut = ({ method, url = '' }: IncomingMessage): boolean => method === 'PUT' && !url.includes('uploadId=');
/** The request that makes an object of the parts of an upload. */
export const isCompletion = ({ method, url = '' }: IncomingMessage): boolean => method === 'POST' && url.includes('uploadId=');
/** The request that deletes objects. */
export const isDeletion = ({ method, url = '' }: IncomingMessage): boolean => method === 'POST' && /[?&]delete\b/.test(url);
