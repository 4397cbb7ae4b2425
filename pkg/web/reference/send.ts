import type { Session, SessionState } from '../api/session.ts';
import type { Received } from './reply.tsx';
import type { Request } from './request.ts';

/** Longer texts are cut: a browser is slow to show them. */
const TEXT_MAX = 200_000;
const IS_TEXT = /^(text\/|application\/(json|x-ndjson|problem\+json))/;

/**
 * Sends a request as the person who is signed in, and with a new token if the server refuses the former one. Returns whatever
 * came back; throws nothing.
 */
export async function send(request: Request, session: Session): Promise<Received> {
  try {
    await until(session, (state) => state !== 'starting');
    // A session that has ended would make the request wait for a sign-in, which this page has not.
    const token = session.state.value.name === 'signed-in' ? await session.current() : undefined;
    let reply = await sendWith(request, token);
    if (reply.status === 401 && token !== undefined && session.state.value.name === 'signed-in') {
      const isEnded = until(session, (state) => state !== 'signed-in');
      const renewed = await Promise.race([session.renewed(token), isEnded]);
      if (renewed !== undefined) reply = await sendWith(request, renewed);
    }
    return await read(reply, request);
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Resolves once the session is in a state that fits. */
const until = (session: Session, fits: (state: SessionState['name']) => boolean): Promise<undefined> =>
  new Promise((resolve) => {
    if (fits(session.state.value.name)) return resolve(undefined);
    const unsubscribe = session.state.subscribe(() => {
      if (!fits(session.state.value.name)) return;
      unsubscribe();
      resolve(undefined);
    });
  });

const sendWith = ({ method, url, headers, body }: Request, token: string | undefined): Promise<Response> =>
  fetch(url, {
    method,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body }),
    credentials: 'same-origin',
  });

async function read(reply: Response, { method, url }: Request): Promise<Received> {
  const of = { status: reply.status, request: `${method} ${url}`, headers: [...reply.headers] };
  const type = reply.headers.get('content-type') ?? '';
  const blob = await reply.blob();
  if (blob.size === 0) return { kind: 'text', ...of, text: '' };
  if (!IS_TEXT.test(type)) {
    const name = fileNameOf(reply.headers.get('content-disposition') ?? '');
    return { kind: 'file', ...of, name, size: blob.size, address: URL.createObjectURL(blob) };
  }
  const text = await blob.text();
  return { kind: 'text', ...of, text: cut(type.startsWith('application/json') ? indented(text) : text) };
}

/** Returns the name of a Content-Disposition as this API writes it (RFC 6266), or nothing. */
function fileNameOf(disposition: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  return encoded === undefined ? (/filename="([^"]*)"/i.exec(disposition)?.[1] ?? '') : decodeURIComponent(encoded);
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const cut = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}\n… (cut)` : text);
