/**
 * The demo's other side, which `make up` starts: an LMS whose links can be clicked (http://lms.localhost) and a webhook receiver
 * (http://receiver.localhost). The router passes both hosts on to it.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { readConfig } from '../../../pkg/runtime/config.ts';
import { createLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { closeServer, listen } from '../../../pkg/runtime/ops-server.ts';
import { runProgram } from '../../../pkg/runtime/program.ts';
import { LmsSite } from './lms-site.ts';
import { ReceiverSite } from './receiver-site.ts';

const Config = z.object({
  KUBECONFIG: z.string().min(1),
  CARREL_LISTEN_HOST: z.string().min(1),
  CARREL_DEMO_PORT: z.coerce.number().int().min(1).max(65_535),
  /** Behind the hosts as people dial them. */
  CARREL_PUBLIC_PORT: z.coerce.number().int().min(1).max(65_535),
});

const log = createLogger({ program: 'demo' });
await runProgram(
  () => log,
  async ({ onStop }) => {
    const config = readConfig('demo', Config, process.env);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(config.KUBECONFIG);
    const client = new KubeClient({ kubeConfig, metrics: createMetrics('demo'), userAgent: 'carrel-demo' });
    onStop('client', () => client.close());
    const port = config.CARREL_PUBLIC_PORT === 80 ? '' : `:${config.CARREL_PUBLIC_PORT}`;
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
          response.writeHead(500, { 'content-type': 'text/plain' }).end('The request failed. Run make logs PROGRAM=demo for the reason.\n');
      });
    });
    await listen(server, config.CARREL_DEMO_PORT, config.CARREL_LISTEN_HOST);
    onStop('server', () => closeServer(server));
  },
);
