import { request as httpsRequest } from 'node:https';
import type { Cluster } from './operator.ts';

/** Kept by the API server itself: its own Service's addresses. */
const ITS_OWN = ['leases', 'endpoints', 'endpointslices'];

/** Writes that the API server was asked for since it began, by verb and resource; leases apart. */
export async function writes(cluster: Cluster): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of (await metricsOf(cluster)).split('\n')) {
    const match = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries(
      [...(match[1] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name ?? '', value ?? '']),
    );
    if (!/^(POST|PUT|PATCH|APPLY|DELETE)$/.test(labels['verb'] ?? '') || ITS_OWN.includes(labels['resource'] ?? '')) continue;
    const key = `${labels['verb']} ${labels['resource']}${labels['subresource'] ? `/${labels['subresource']}` : ''}`;
    counts[key] = (counts[key] ?? 0) + Number(match[2]);
  }
  return counts;
}

/** Returns the size in bytes of the API server's store (etcd) on disk, including deleted space that is not reused yet. */
export async function storageSize(cluster: Cluster): Promise<number> {
  const sizes = (await metricsOf(cluster)).matchAll(/^apiserver_storage_size_bytes\{[^}]*\} (\S+)$/gm);
  return [...sizes].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** Returns the writes between two counts. */
export const difference = (before: Record<string, number>, after: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after).flatMap(([key, count]) => (count > (before[key] ?? 0) ? [[key, count - (before[key] ?? 0)]] : [])),
  );

function metricsOf(cluster: Cluster): Promise<string> {
  const { kubeConfig, url } = cluster.api;
  const ca = Buffer.from(kubeConfig.getCurrentCluster()?.caData ?? '', 'base64');
  const headers = { authorization: `Bearer ${kubeConfig.getCurrentUser()?.token ?? ''}` };
  return new Promise((resolve, reject) => {
    const call = httpsRequest(`${url}/metrics`, { ca, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    call.on('error', reject);
    call.end();
  });
}
