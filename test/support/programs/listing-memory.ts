import { parseAllowedRanges } from '../../../pkg/net/private-address.ts';
import { guardedSockets } from '../../../pkg/net/guarded-sockets.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { Objects } from '../../../pkg/store/s3/objects.ts';
import { range } from '../wait.ts';

/**
 * A process of its own, so that its memory is what listings take: lists buckets of the endpoint `argv[2]`, `argv[3]` of them at
 * once, as stores that tenants named. Writes `{ grown, errors }` as JSON: by how many bytes its resident memory grew at most, and
 * what ended the listings.
 */
const [, , endpoint = '', count = '1'] = process.argv;
const connect = guardedSockets({ allow: parseAllowedRanges('127.0.0.0/8'), clock });
const open = (bucket: string): Objects =>
  new Objects({ endpoint, region: 'us-east-1', bucket, accessKeyId: 'key', secretAccessKey: 'secret', connect });

async function listed(bucket: string): Promise<string> {
  const objects = open(bucket);
  try {
    for await (const _ of objects.list()) continue;
    return 'none';
  } catch (error) {
    return (error as Error).name;
  } finally {
    objects.close();
  }
}

await listed('first');
const before = process.memoryUsage.rss();
let most = before;
const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 2);
const errors = await Promise.all(range(Number(count)).map((at) => listed(`bucket-${at}`)));
clearInterval(sampling);
most = Math.max(most, process.memoryUsage.rss());
process.stdout.write(JSON.stringify({ grown: most - before, errors: [...new Set(errors)] }));
