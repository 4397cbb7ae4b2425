import type { AddressInfo } from 'node:net';
import { DRAIN_MS } from '../../pkg/http/size-and-time-limits.ts';
import { createFeatures, type Feature } from '../../pkg/feature/feature.ts';
import { createApp } from '../../pkg/http/app.ts';
import { RequestAdmission } from '../../pkg/http/admission.ts';
import { IdempotencyKeys } from '../../pkg/http/idempotency.ts';
import { createListener } from '../../pkg/http/listener.ts';
import { RequestCounts } from '../../pkg/http/request-counts.ts';
import { listen, startOpsServer } from '../../pkg/runtime/ops-server.ts';
import type { ServerConfig } from './config.ts';
import { FEATURES } from './features.ts';
import { createServices, type ServiceOptions } from './services.ts';

interface ServerOptions extends ServiceOptions {
  /** For tests: fails for a reply that the endpoint does not declare. */
  readonly exact?: boolean;
  /** For tests: replaces the server's features. */
  readonly features?: readonly Feature[];
  /** For tests: the time between two additions of the counts of requests; default: a minute. */
  readonly addRequestsEveryMs?: number;
}

/** A tenant's server, listening. */
export interface CarrelServer {
  readonly port: number;
  readonly opsPort: number;
  /** Takes no new request, finishes running ones within DRAIN_MS, adds the last counts of requests, and closes the stores. */
  stop(): Promise<void>;
}

/** Wires one tenant's server and starts it, for main.ts and for tests. It asks no store before it listens. */
export async function createServer(config: ServerConfig, options: ServerOptions): Promise<CarrelServer> {
  const features = options.features ?? FEATURES;
  const services = await createServices(config, features, options);
  const { addresses, log, metrics, random, settings } = services;
  const { endpoints, pages } = createFeatures(features, services);
  const requests = new RequestCounts(services, options.addRequestsEveryMs);
  const http = {
    ...services,
    requests,
    admission: new RequestAdmission({ ...services, limits: settings.requests }),
    idempotency: new IdempotencyKeys(services),
    apiUrl: addresses.apiUrl,
    exact: options.exact ?? false,
    trustedProxies: config.CARREL_TRUSTED_PROXIES,
    hosts: new Set([addresses.appUrl, addresses.ltiUrl].map((url) => new URL(url).host)),
  };

  let refusal: string | null = 'starting';
  const ops = await startOpsServer({
    host: config.CARREL_LISTEN_HOST,
    port: config.CARREL_OPS_PORT,
    metrics,
    ready: () => refusal,
  });
  const listener = createListener(createApp(http, endpoints, pages), random);
  await listen(listener.server, config.CARREL_PORT, config.CARREL_LISTEN_HOST);
  refusal = null;
  const { port } = listener.server.address() as AddressInfo;
  log.info({ port, opsPort: ops.port }, 'listening');

  return {
    port,
    opsPort: ops.port,
    stop: async () => {
      refusal = 'stopping';
      await listener.drain(DRAIN_MS);
      await requests.close();
      await Promise.allSettled([services.close(), ops.close()]);
    },
  };
}
