import type { z } from 'zod';

const TIMEOUT_MS = 15_000;
const MAX_REPLY_BYTES = 4 << 20;

/**
 * A service refused, did not answer, or answered something else. The message is for the log: it may repeat the service's words.
 */
class ServiceFailure extends Error {
  override readonly name: string = 'ServiceFailure';
}

/** A service does not accept this text; the next one may be fine. */
export class TextRefused extends ServiceFailure {
  override readonly name = 'TextRefused';
}

const OF_THE_TEXT: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/**
 * Asks a translation service and parses its JSON with `schema`. Waits at most 15 s and reads at most 4 MiB; follows no redirect,
 * since the request carries a key. Throws ServiceFailure (TextRefused), or the signal's reason.
 */
export async function ask<S extends z.ZodType>(
  url: string | URL,
  schema: S,
  { signal, headers = {}, body }: { signal: AbortSignal; headers?: Record<string, string>; body?: unknown },
): Promise<z.output<S>> {
  const host = new URL(url).host;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: bounded,
      ...(body === undefined
        ? { headers }
        : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }),
    });
    const text = await readBounded(response);
    if (!response.ok) {
      const Failure = OF_THE_TEXT.has(response.status) && body !== undefined ? TextRefused : ServiceFailure;
      throw new Failure(`${host} answers ${response.status}: ${text.slice(0, 200)}`);
    }
    return schema.parse(JSON.parse(text));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ServiceFailure) throw error;
    throw new ServiceFailure(`${host} does not answer as documented: ${reasonOf(error)}`, { cause: error });
  }
}

/** fetch hides the reason in the cause of the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message.slice(0, 300);
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_REPLY_BYTES) throw new ServiceFailure(`more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
