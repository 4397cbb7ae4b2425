import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeClient } from '../../kube/transport.ts';
import { verifiesStandard } from './standard-webhooks.ts';
import { escaped, page, table } from './html.ts';
import { secretsOf } from './registrations.ts';

const KEPT = 200;
const MAX_BYTES = 1024 * 1024;

interface Delivery {
  readonly at: Date;
  readonly path: string;
  readonly id: string;
  readonly body: string;
  readonly signature: 'good' | 'wrong' | 'of an unknown Webhook';
}

/**
 * The demo receiver as a site: takes deliveries by POST at any path, and shows the last ones at `/`. It answers 401 to a wrong
 * signature.
 */
export class ReceiverSite {
  readonly #client: KubeClient;
  readonly #url: string;
  readonly #deliveries: Delivery[] = [];

  constructor(deps: { client: KubeClient; url: string }) {
    this.#client = deps.client;
    this.#url = deps.url;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') return this.#take(request, response);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(this.#index());
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
    const path = request.url ?? '/';
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const secrets = await secretsOf(this.#client, `${this.#url}${path}`);
    const isGood = secrets.some((secret) => verifiesStandard({ body, headers }, secret));
    const signature = isGood ? 'good' : secrets.length === 0 ? 'of an unknown Webhook' : 'wrong';
    this.#deliveries.unshift({ at: new Date(), path, id: headers['webhook-id'] ?? '', body, signature });
    this.#deliveries.splice(KEPT);
    response.writeHead(isGood ? 204 : 401).end();
  }

  #index(): string {
    const rows = this.#deliveries.map(({ at, path, id, body, signature }) => [
      at.toISOString(),
      escaped(path),
      escaped(id),
      signature,
      `<code>${escaped(body)}</code>`,
    ]);
    const none = 'No delivery has arrived yet. Create a user or upload a file, and look again.';
    return page('Demo receiver', table(['at', 'path', 'webhook-id', 'signature', 'body'], rows, none));
  }
}

/** Returns undefined past 1 MiB. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
