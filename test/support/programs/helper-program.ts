import type { AddressInfo } from 'node:net';
import { configuredProviders } from '../../../cmd/helpers/providers.ts';
import { helpersConfigSchema } from '../../../cmd/helpers/config.ts';
import { serviceOf } from '../../../cmd/helpers/service.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { readConfig } from '../../../pkg/runtime/config.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { listen } from '../../../pkg/runtime/ops-server.ts';

export interface Converted {
  readonly status: number;
  readonly type: string | null;
  readonly bytes: Buffer;
  /** The code of a refusal. */
  readonly error?: string;
  readonly message?: string;
}

/** The helpers in this process, with Apertium left out: it is not everywhere. */
export interface Helpers extends AsyncDisposable {
  readonly url: string;
  translate(
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
  convert(path: string, pdf: Uint8Array, fields?: Record<string, string>, signal?: AbortSignal): Promise<Converted>;
  metrics(): Promise<string>;
}

/**
 * A reply has four minutes unless `settings` say otherwise: within the usual 55 s, two slow cores that run other tests as well do
 * not finish all images of a PDF.
 */
export async function startHelpers(settings: Record<string, string> = {}): Promise<Helpers> {
  const all = {
    CARREL_HELPERS_PROVIDERS: 'google,azure,deepl,libretranslate,dictionary',
    CARREL_HELPERS_TIMEOUT_SECONDS: '240',
    ...settings,
  };
  const config = readConfig('helpers', helpersConfigSchema, all);
  const metrics = createMetrics('helpers');
  const server = serviceOf(config, { providers: configuredProviders(config), clock: systemClock, log: silentLogger, metrics });
  await listen(server, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async translate(body, headers = {}) {
      const reply = await fetch(`${url}/translate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, unknown> };
    },
    async convert(path, pdf, fields = {}, signal) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new Blob([Uint8Array.from(pdf)], { type: 'application/pdf' }), 'document.pdf');
      const reply = await fetch(`${url}${path}`, { method: 'POST', body: form, ...(signal && { signal }) });
      const bytes = Buffer.from(await reply.arrayBuffer());
      const refusal = reply.ok ? {} : (JSON.parse(bytes.toString('utf8')) as { error: string; message: string });
      return { status: reply.status, type: reply.headers.get('content-type'), bytes, ...refusal };
    },
    metrics: () => metrics.metrics(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
