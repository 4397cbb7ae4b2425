import { Agent, request } from 'undici';

export interface PageShown {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The refusal's code as a person reads it. */
  readonly code: string | undefined;
}

const usualAgent = new Agent({ connections: 64 });

/** A browser as far as a launch needs one: it keeps cookies by host and path, follows no redirect by itself, posts forms. */
export class Browser {
  /** Cookies by host and name. */
  readonly cookies = new Map<string, { value: string; path: string }>();
  readonly #agent: Agent;

  /** `agent`: for an LMS with a certificate of its own, or names that Node does not resolve. */
  constructor(agent: Agent = usualAgent) {
    this.#agent = agent;
  }

  get = (url: string | URL, headers: Record<string, string> = {}): Promise<PageShown> =>
    this.#request('GET', String(url), headers);

  post(url: string | URL, fields: URLSearchParams, headers: Record<string, string> = {}): Promise<PageShown> {
    return this.#request(
      'POST',
      String(url),
      { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      fields.toString(),
    );
  }

  async #request(method: 'GET' | 'POST', url: string, headers: Record<string, string>, body?: string): Promise<PageShown> {
    const { host, pathname } = new URL(url);
    const sent = [...this.cookies]
      .filter(([key, { path }]) => key.startsWith(`${host} `) && pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[1]}=${value}`);
    const response = await request(url, {
      method,
      dispatcher: this.#agent,
      headers: { accept: 'text/html', ...(sent.length > 0 ? { cookie: sent.join('; ') } : {}), ...headers },
      body: body ?? null,
    });
    for (const cookie of [response.headers['set-cookie'] ?? []].flat()) this.#keep(host, cookie);
    const text = await response.body.text();
    return {
      status: response.statusCode,
      url,
      headers: response.headers,
      text,
      code: /Code: <code>([^<]*)<\/code>/.exec(text)?.[1],
    };
  }

  #keep(host: string, header: string): void {
    const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const attribute = (wanted: string): string | undefined =>
      attributes.find((one) => one.startsWith(`${wanted}=`))?.split('=')[1];
    if (attribute('Max-Age') === '0') this.cookies.delete(`${host} ${name}`);
    else this.cookies.set(`${host} ${name}`, { value, path: attribute('Path') ?? '/' });
  }
}

/** The form that a page submits by itself. */
export function formOf(page: PageShown): { action: string; fields: URLSearchParams } {
  const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1];
  if (action === undefined) throw new Error(`there is no form: ${page.status} ${page.text}`);
  const fields = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return { action, fields: new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, value])) };
}

/** Login initiation and authorization, up to the form that is about to be posted; or the page where it ended earlier. */
export async function toTheForm(
  browser: Browser,
  login: URL,
): Promise<{ ended: PageShown } | { action: string; fields: URLSearchParams }> {
  const begun = await browser.get(login);
  if (begun.status !== 302) return { ended: begun };
  return formOf(await browser.get(String(begun.headers.location)));
}

/** A click on a link in the LMS, until the tool has answered. */
export async function follow(browser: Browser, login: URL): Promise<PageShown> {
  const form = await toTheForm(browser, login);
  return 'ended' in form ? form.ended : browser.post(form.action, form.fields);
}
