import type { IncomingMessage, ServerResponse } from 'node:http';

/** The behaviour of an end point: the usual one, or another for the next few requests. */
export class Manner<M> {
  #usual: M;
  #planned: { manner: M; times: number } | undefined;

  constructor(usual: M) {
    this.#usual = usual;
  }

  /** Applies from now on, or with `times` only to that many requests. */
  set(manner: M, times?: number): void {
    if (times === undefined) [this.#usual, this.#planned] = [manner, undefined];
    else this.#planned = { manner, times };
  }

  next(): M {
    if (!this.#planned || this.#planned.times === 0) return this.#usual;
    this.#planned.times -= 1;
    return this.#planned.manner;
  }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export const json = (response: ServerResponse, status: number, body: unknown, type = 'application/json'): void =>
  void response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
