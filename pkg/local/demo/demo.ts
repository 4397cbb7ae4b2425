import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { KubeClient } from '../../kube/transport.ts';
import type { Logger } from '../../runtime/log.ts';
import { closeServer, listen } from '../../runtime/ops-server.ts';
import type { StateDirectory } from '../state-directory.ts';
import { LmsSite } from './lms-site.ts';
import { ReceiverSite } from './receiver-site.ts';

/**
 * Starts the demo's other side, for `make up`: an LMS whose links people can click (http://lms.localhost) and a webhook receiver
 * (http://receiver.localhost). The router forwards both hosts to it.
 */
export async function startDemo(options: {
  readonly client: KubeClient;
  readonly stateDirectory: StateDirectory;
  readonly log: Logger;
}): Promise<{ stop(): Promise<void> }> {
  const { client, log } = options;
  const { address, ports, routerPort } = options.stateDirectory.settings;
  const port = routerPort === 80 ? '' : `:${routerPort}`;
  const sites: Record<string, LmsSite | ReceiverSite> = {
    'lms.localhost': new LmsSite({ client, issuer: `http://lms.localhost${port}` }),
    'receiver.localhost': new ReceiverSite({ client, url: `http://receiver.localhost${port}` }),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const site = sites[(request.headers.host ?? '').replace(/:\d+$/, '')];
    if (site) return site.answer(request, response);
    response.writeHead(request.url === '/healthz' ? 200 : 404).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request failed');
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(500, { 'content-type': 'text/plain' })
          .end('The request failed. Run make logs PROGRAM=demo for the reason.\n');
    });
  });
  await listen(server, ports.demo, address);
  return { stop: () => closeServer(server) };
}
