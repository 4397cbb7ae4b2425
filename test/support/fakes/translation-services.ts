import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The ways in which a stand-in fails. */
export type Fault =
  | 'refuses'
  | 'refuses the text'
  | 'breaks'
  | 'truncates'
  | 'redirects'
  | 'sends garbage'
  | 'sends too few'
  | 'never ends'
  | undefined;

export interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface StandIn extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  fault: Fault;
}

/** The reply of one service to a request, or undefined where it has nothing at that address. */
type Reply = (path: string, query: URLSearchParams, body: never) => unknown;

const shout = (text: string): string => text.toUpperCase();

/** The documented APIs. Each "translates" into capitals, and knows English, Spanish and German. */
export const SERVICES: Record<'google' | 'azure' | 'deepl' | 'libretranslate', Reply> = {
  google(path, _, body: { q: string[]; source?: string }) {
    if (path === '/language/translate/v2/languages')
      return { data: { languages: ['en', 'es', 'de'].map((language) => ({ language })) } };
    const detected = body.source === undefined ? { detectedSourceLanguage: 'en' } : {};
    return { data: { translations: body.q.map((text) => ({ translatedText: shout(text), ...detected })) } };
  },
  azure(path, query, body: { Text: string }[]) {
    if (path === '/languages') return { translation: { en: {}, es: {}, de: {}, 'zh-Hant': {} } };
    const detected = query.has('from') ? {} : { detectedLanguage: { language: 'en', score: 1 } };
    return body.map(({ Text }) => ({ ...detected, translations: [{ text: shout(Text), to: query.get('to') }] }));
  },
  deepl(path, query, body: { text: string[] }) {
    if (path === '/v2/languages')
      return (query.get('type') === 'target' ? ['EN-GB', 'EN-US', 'ES', 'DE'] : ['EN', 'ES', 'DE']).map((language) => ({
        language,
        name: language,
      }));
    return { translations: body.text.map((text) => ({ detected_source_language: 'EN', text: shout(text) })) };
  },
  libretranslate(path, _, body: { q: string[]; source: string }) {
    if (path === '/languages') return ['en', 'es'].map((code) => ({ code, name: code, targets: ['en', 'es'] }));
    const detected = body.source === 'auto' ? { detectedLanguage: body.q.map(() => ({ language: 'en', confidence: 90 })) } : {};
    return { translatedText: body.q.map(shout), ...detected };
  },
};

/** A translation service on loopback that speaks the API of `name`, and fails on demand where it is asked to translate. */
export async function startTranslationService(name: keyof typeof SERVICES): Promise<StandIn> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', standIn.url);
      const text = Buffer.concat(chunks).toString('utf8');
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      seen.push({ path: request.url ?? '', headers: request.headers, body });
      const reply = SERVICES[name](pathname, searchParams, body as never);
      const fault = request.method === 'POST' ? standIn.fault : undefined;
      if (fault === 'refuses') return response.writeHead(429).end('{"error":"quota"}');
      if (fault === 'refuses the text') return response.writeHead(400).end('{"error":"bad text"}');
      if (fault === 'breaks') return response.destroy();
      if (fault === 'redirects') return response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      if (fault === 'sends garbage') return response.end('<html>');
      if (fault === 'sends too few')
        return response.end(JSON.stringify(SERVICES[name](pathname, searchParams, emptied(body) as never)));
      if (fault === 'truncates') {
        response.writeHead(200, { 'content-length': 1_000 }).write('{');
        return response.destroy();
      }
      if (fault === 'never ends') {
        const more = (): void => void (!response.destroyed && response.write(' '.repeat(65_536), () => setImmediate(more)));
        return more();
      }
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    fault: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

/** The request without its texts. */
const emptied = (body: unknown): unknown =>
  Array.isArray(body)
    ? []
    : Object.fromEntries(Object.entries(body as object).map(([key, value]) => [key, Array.isArray(value) ? [] : value]));
