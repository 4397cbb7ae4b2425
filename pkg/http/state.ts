import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { Logger } from '../runtime/log.ts';

/** What the middleware keeps about a request. */
export interface RequestState {
  requestId: string;
  /** With the request's id. Made when first asked for: most requests say nothing. */
  log: () => Logger;
  /** The client's address, normalised. */
  address: string;
  /** The network that the address is of (`networkOf`). */
  network: string;
  /** The endpoint's path template: the label of metrics and logs; never the path itself, which may hold a token. */
  route: string;
  userUuid?: string;
}

export type Context = ParameterizedContext<RequestState, DefaultContext>;
export type Middleware = KoaMiddleware<RequestState, DefaultContext>;
