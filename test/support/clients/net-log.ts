import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const NetLog = z.object({
  constants: z.object({ logEventTypes: z.record(z.string(), z.int()) }),
  events: z.array(z.object({ type: z.int(), params: z.object({ host: z.string().optional() }).optional() })),
});

/**
 * Returns the names that a browser has looked up, by its network log (`openBrowser`), once it is closed. Each connection begins
 * with that, and so does what a page asks for in advance.
 */
export async function namesLookedUp(netLog: string): Promise<ReadonlySet<string>> {
  const { constants, events } = NetLog.parse(JSON.parse(await readFile(netLog, 'utf8')));
  const lookup = constants.logEventTypes['HOST_RESOLVER_MANAGER_REQUEST'];
  if (lookup === undefined) throw new Error('the network log of this browser has no event HOST_RESOLVER_MANAGER_REQUEST');
  const hosts = events.flatMap(({ type, params }) => (type === lookup && params?.host !== undefined ? [params.host] : []));
  return new Set(hosts.map((host) => new URL(host.includes('://') ? host : `http://${host}`).hostname));
}
