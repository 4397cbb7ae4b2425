import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isSame } from '../../../pkg/local/demo/standard-webhooks.ts';
import { freePort } from '../backends/ports.ts';

/** A delivery as it arrived. */
export interface Received {
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly event: string;
  readonly data: Record<string, unknown>;
  /** True when the answer was 2xx. */
  readonly taken: boolean;
  /** The time of arrival by `performance.now()`. */
  readonly at: number;
}

/** The receiver's answer; with `stall` it never answers. */
export type Answer = { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | 'stall';

export interface Receiver {
  readonly url: string;
  /** At the same host, an address that takes everything and never answers. */
  readonly stallingUrl: string;
  readonly received: readonly Received[];
  /** From now on; the next `times` only, then 204 again. */
  answer(answer: Answer, times?: number): void;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

const STALLING = '/stall';

/** A webhook receiver on loopback whose replies the test sets. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let planned: { answer: Answer; times: number } = { answer: { status: 204 }, times: Infinity };
  const next = (): Answer => {
    if (planned.times === 0) return { status: 204 };
    planned.times -= 1;
    return planned.answer;
  };
  const server = createServer((request, response) => {
    if (request.url === STALLING) request.resume();
    else void take(request, response, received, next);
  });
  const port = await freePort();
  const up = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await up();
  return {
    url: `http://127.0.0.1:${port}/hook`,
    stallingUrl: `http://127.0.0.1:${port}${STALLING}`,
    received,
    answer: (answer, times = Infinity) => void (planned = { answer, times }),
    down,
    up,
    close: down,
  };
}

async function take(request: IncomingMessage, response: ServerResponse, received: Received[], next: () => Answer): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const { event, data } = JSON.parse(body) as Pick<Received, 'event' | 'data'>;
  const answer = next();
  const taken = answer !== 'stall' && answer.status < 300;
  received.push({ id: headers['webhook-id'] ?? '', body, headers, event, data, taken, at: performance.now() });
  if (answer !== 'stall') response.writeHead(answer.status, answer.headers).end();
}

/** docs/design/events-and-jobs.md, Webhooks: hex HMAC-SHA256 of the body, compared in constant time. */
export const verifiesHex = ({ body, headers }: Received, secret: string): boolean =>
  isSame(createHmac('sha256', secret).update(body).digest('hex'), headers['x-carrel-signature'] ?? '');
