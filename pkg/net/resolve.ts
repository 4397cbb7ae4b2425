import { lookup, Resolver } from 'node:dns/promises';

/** Returns all IP addresses of a name, at least one; rejects with an error with Node's `code` (`ENOTFOUND`, `ETIMEOUT`). */
export type Resolve = (name: string) => Promise<string[]>;

const DNS_TRY_MS = 1_500;
const DNS_TRIES = 2;

/**
 * The machine's own name resolution, in two steps. It first asks the name servers directly: the system's look-up occupies one of
 * libuv's four threads for as long as a name server is silent, so a few names of one tenant would stop everyone's. Only names
 * that the name servers do not know (`/etc/hosts`, a cluster's search domains) go to the system's look-up.
 * @param servers `address:port` of name servers instead of the machine's
 */
export function systemResolver(servers?: string[]): Resolve {
  const dns = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });
  if (servers) dns.setServers(servers);
  return async (name) => {
    const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    for (const answer of answers) if (answer.status === 'rejected' && isSilent(answer.reason)) throw answer.reason;
    return (await lookup(name, { all: true })).map(({ address }) => address);
  };
}

/** True if no answer arrived in time, or the server failed: asking again another way would only wait longer. */
const isSilent = (error: unknown): boolean => ['ETIMEOUT', 'ESERVFAIL'].includes(String((error as { code?: unknown }).code));
