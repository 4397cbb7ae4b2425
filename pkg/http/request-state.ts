import type { DefaultContext, ParameterizedContext } from 'koa';
import type { Logger } from '../runtime/log.ts';
import type { Span } from '../runtime/traces.ts';

/** The state of a request. */
export interface RequestState {
  requestId: string;
  /** Logs with the request's id. Created on first use: most requests log nothing. */
  log: () => Logger;
  /** The client's address, normalised. */
  address: string;
  /** The network of the address (`networkOf`). */
  network: string;
  /** The endpoint's path template: the label of metrics and logs; never the path itself, which may hold a token. */
  route: string;
  userUuid?: string;
  /** Set if tracing is on. */
  span?: Span;
}

export type Context = ParameterizedContext<RequestState, DefaultContext>;
export type Handler = (ctx: Context) => Promise<void>;
