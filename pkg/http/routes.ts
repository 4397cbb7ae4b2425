import { Router } from '@koa/router';
import type { DefaultContext } from 'koa';
import type { Method } from '../api/endpoint.ts';
import type { Context, Handler, RequestState } from './request-state.ts';

export interface Route {
  readonly method: Method;
  /** A literal path or a template, `/files/{id}`: a parameter is one whole, non-empty segment. */
  readonly path: string;
  readonly handle: Handler;
}

/** Answers a request that no route matches. `methods` are those of its path; none if no route has the path. */
type Unmatched = (ctx: Context, methods: readonly string[]) => Promise<void>;

/**
 * Mounts the routes below `base` as Koa middleware. A router tries the expression of each of its routes, so each router has few:
 * one router per literal path, and one for the templates with the same first segment and length. If several templates fit, the
 * one with the fewest parameters is used. A literal path is not an id: if there is `/users/me`, `/users/{id}` does not match that
 * path. HEAD is answered as GET is.
 */
export function mountRoutes(base: string, routes: readonly Route[], unmatched: Unmatched): Handler {
  const groups = Map.groupBy(routes, ({ path }) => (path.includes('{') ? templatesFor(base + path, base.length) : base + path));
  const routers = new Map([...groups].map(([group, own]) => [group, routerOf(base, own)]));
  return (ctx) => {
    const { path } = ctx;
    const router = routers.get(path) ?? routers.get(templatesFor(path, base.length));
    if (!router) return unmatched(ctx, []);
    // `router.routes()` would also read the host, compose a chain and note on the context what was tried. That costs as much
    // again.
    const fitting = router.match(path, ctx.method);
    const [layer] = fitting.pathAndMethod;
    if (!layer) return unmatched(ctx, [...new Set(fitting.path.flatMap(({ methods }) => methods))]);
    ctx.params = layer.params(path, layer.captures(path));
    return (layer.stack[0] as Handler)(ctx);
  };
}

/**
 * Returns the key of the templates that may fit a path: its first segment after the base and the number of further ones
 * (`/files/1` → `/files 1`).
 */
function templatesFor(path: string, base: number): string {
  let slash = path.indexOf('/', base + 1);
  const first = slash === -1 ? path.slice(base) : path.slice(base, slash);
  let others = 0;
  for (; slash !== -1; slash = path.indexOf('/', slash + 1)) others += 1;
  return `${first} ${others}`;
}

/** One expression for each path, those with fewer parameters first. */
function routerOf(base: string, routes: readonly Route[]): Router<RequestState, DefaultContext> {
  const router = new Router<RequestState, DefaultContext>({ sensitive: true, strict: true });
  const byParameters = routes.toSorted((a, b) => parametersOf(a) - parametersOf(b));
  for (const [path, same] of Map.groupBy(byParameters, (route) => route.path)) {
    const handlers = new Map(same.map(({ method, handle }) => [method.toUpperCase(), handle]));
    const handle: Handler = (ctx) => (handlers.get(ctx.method === 'HEAD' ? 'GET' : ctx.method) as Handler)(ctx);
    router.register(`${base}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, [...handlers.keys()], handle);
  }
  return router;
}

const parametersOf = ({ path }: Route): number => path.split('{').length;
