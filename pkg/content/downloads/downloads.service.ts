import { Readable } from 'node:stream';
import type { Actor } from '../../api/actor.ts';
import { reply, type Reply, type ReplyHeaders, type RequestInfo } from '../../api/endpoint.ts';
import { noneMatchHits, parseEntityTags } from '../../api/etag.ts';
import { Problem } from '../../api/problem.ts';
import type { Logger } from '../../runtime/log.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import type { Files } from '../model/files/files.service.ts';
import type { Counted, Transfers } from '../blobs/transfers.ts';
import { type Content, contentOf, headersOf } from './download-headers.ts';
import { rangeApplies, selectRange } from './range.policy.ts';

/**
 * Streams the content of files from S3 as fast as the client reads it, and keeps nothing in memory.
 * The entity tag is the content's SHA-256, so a rename does not change it.
 */
export class Downloads {
  readonly #files: Files;
  readonly #objects: Objects;
  readonly #transfers: Transfers;
  readonly #log: Logger;

  constructor(deps: { files: Files; objects: Objects; transfers: Transfers; log: Logger }) {
    this.#files = deps.files;
    this.#objects = deps.objects;
    this.#transfers = deps.transfers;
    this.#log = deps.log;
  }

  /**
   * Returns 200, 206 or 304 (RFC 9110 §13.2.2 has the order). Throws `not_found`, `range_not_satisfiable`,
   * `too_many_transfers`.
   */
  async open(actor: Actor, id: string, request: RequestInfo): Promise<Reply> {
    return this.send(await this.#files.read(actor, id), { person: actor.userUuid }, request);
  }

  /**
   * Does the same with content that the caller may read. The transfer counts against `counted`. `begun` is called when the store
   * has begun to send the content, before anything is sent to the client. It returns further headers, or throws the Problem to
   * send instead.
   */
  async send(
    file: Content,
    counted: Counted,
    request: RequestInfo,
    begun: () => Promise<ReplyHeaders> = () => Promise.resolve({}),
  ): Promise<Reply> {
    const headers = headersOf(file);
    if (
      request.method !== 'POST' &&
      noneMatchHits(parseEntityTags('If-None-Match', request.headers['if-none-match']), file.checksum)
    )
      return reply(304, undefined, headers);
    if (request.method === 'HEAD') return reply(200, Readable.from([]), { ...headers, ...contentOf(file, file.size) });

    const range = rangeApplies(request.headers['if-range'], file.checksum) ? request.headers['range'] : undefined;
    const selection = selectRange(range, file.size);
    if (selection.kind === 'unsatisfiable') {
      throw new Problem('range_not_satisfiable', undefined, { headers: { 'content-range': `bytes */${file.size}` } });
    }
    if (selection.kind === 'whole') {
      const body = await this.#open(file, counted, request);
      return reply(200, body, { ...headers, ...contentOf(file, file.size), ...(await unlessRefused(body, begun)) });
    }
    const { start, end } = selection;
    const body = await this.#open(file, counted, request, { start, end });
    const part = { ...contentOf(file, end - start + 1), 'content-range': `bytes ${start}-${end}/${file.size}` };
    return reply(206, body, { ...headers, ...part, ...(await unlessRefused(body, begun)) });
  }

  async #open(file: Content, counted: Counted, request: RequestInfo, range?: { start: number; end: number }): Promise<Readable> {
    const transfer = this.#transfers.begin('download', counted, request.traffic);
    try {
      const { body } = await this.#objects.get(file.blobName, { signal: request.signal, ...(range ? { range } : {}) });
      transfer.signal.addEventListener('abort', () => body.destroy(transfer.signal.reason as Error), { once: true });
      body.once('close', () => transfer.end());
      if (body.closed) transfer.end();
      return body;
    } catch (error) {
      transfer.end();
      if (!(error instanceof ObjectMissing)) throw error;
      // The object was purged after the look-up. Any other cause is a loss of data, which the log must show.
      this.#log.error({ file: file.uuid, version: file.version }, 'the object of a file is missing');
      throw new Problem('not_found');
    }
  }
}

async function unlessRefused(body: Readable, begun: () => Promise<ReplyHeaders>): Promise<ReplyHeaders> {
  try {
    return await begun();
  } catch (error) {
    body.destroy();
    throw error;
  }
}
