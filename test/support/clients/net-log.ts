import { readFile } from 'node:fs/promises';

const LOOKUP = 'HOST_RESOLVER_MANAGER_REQUEST';

interface LogEvent {
  readonly params?: { readonly host?: string };
}

/**
 * Returns the names that a browser has looked up so far, by its network log (`--log-net-log`). Every connection to a name begins
 * with that, and so does what a page asks for in advance. The browser writes one event a line, a few of them at a time.
 */
export async function namesLookedUp(netLog: string): Promise<ReadonlySet<string>> {
  const [constants = '', ...lines] = (await readFile(netLog, 'utf8')).split('\n');
  const type = new RegExp(`"${LOOKUP}":(\\d+)`).exec(constants)?.[1];
  if (type === undefined) throw new Error(`the network log of this browser does not know ${LOOKUP}`);
  const events = lines.filter((line) => line.includes(`"type":${type}}`) && line.includes('"host":'));
  const hosts = events.map((line) => (JSON.parse(line.replace(/,$/, '')) as LogEvent).params?.host ?? '');
  return new Set(hosts.map((host) => new URL(host.includes('://') ? host : `http://${host}`).hostname));
}
