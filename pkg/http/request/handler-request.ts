import type { Readable } from 'node:stream';
import type { RequestInfo, Traffic } from '../../api/endpoint.ts';
import { parseEntityTags } from '../../api/etag.ts';
import { clientGone } from '../middleware/errors.ts';
import type { Context } from '../request-state.ts';

/**
 * The request as handlers see it. Fields that few handlers read are computed on first use. Throws Problem `validation_failed` for
 * a malformed If-Match.
 */
export class HandlerRequest implements RequestInfo {
  readonly #ctx: Context;
  #headers: RequestInfo['headers'] | undefined;
  #signal: AbortSignal | undefined;
  readonly ifMatch: RequestInfo['ifMatch'];

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.ifMatch = parseEntityTags('If-Match', ctx.req.headers['if-match']);
  }

  get requestId(): string {
    return this.#ctx.state.requestId;
  }
  get method(): string {
    return this.#ctx.method;
  }
  get url(): string {
    return this.#ctx.url;
  }
  get ip(): string {
    return this.#ctx.state.address;
  }
  get network(): string {
    return this.#ctx.state.network;
  }
  get headers(): RequestInfo['headers'] {
    return (this.#headers ??= headersOf(this.#ctx));
  }
  get signal(): AbortSignal {
    return (this.#signal ??= signalOf(this.#ctx));
  }
  get stream(): Readable {
    return this.#ctx.req;
  }
  get traffic(): Traffic {
    return trafficOf(this.#ctx);
  }
}

const headersOf = ({ req }: Context): RequestInfo['headers'] =>
  Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]));

function signalOf({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!res.writableFinished) gone.abort(clientGone());
  };
  // 'close' is not emitted again for a listener that comes after it.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return gone.signal;
}

const trafficOf = ({ req, res }: Context): Traffic => ({
  get received() {
    return req.socket.bytesRead;
  },
  get sent() {
    return req.socket.bytesWritten;
  },
  get awaitsBody() {
    return !req.complete && !req.isPaused();
  },
  get awaitsReader() {
    return res.writableNeedDrain;
  },
});
