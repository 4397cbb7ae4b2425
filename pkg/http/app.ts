import { Router, type RouterMiddleware } from '@koa/router';
import Koa from 'koa';
import type { DefaultContext } from 'koa';
import { BASE_PATH, type Endpoint } from '../api/endpoint.ts';
import type { PageRoute } from '../api/page.ts';
import { Problem } from '../api/problem.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { errors } from './middleware/errors.ts';
import { observe } from './middleware/observe.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { refusalOf, requireTenant } from './middleware/tenant.ts';
import { referenceEndpoints } from './openapi/endpoints.ts';
import { type PageDeps, servePage } from './pages.ts';
import { serve, type ServeDeps } from './serve.ts';
import type { Context, Middleware, RequestState } from './request-state.ts';
import type { WebBundle } from './web-bundle.ts';

export interface AppDeps extends ServeDeps, PageDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: Random;
  /** How many proxies in front of the server are trusted to set X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly web: WebBundle;
}

export type App = Koa<RequestState, DefaultContext>;

/** The application: the endpoints below /api/v1, their OpenAPI document, the pages beside them, and an error of the same shape for any other address. */
export function createApp(deps: AppDeps, endpoints: readonly Endpoint[], pages: readonly PageRoute[]): App {
  const app: App = new Koa<RequestState, DefaultContext>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (!CLIENT_WENT_AWAY.has(error.code ?? '')) deps.log.error({ err: error }, 'a reply failed');
  });

  const router = new Router<RequestState, DefaultContext>({ prefix: BASE_PATH, sensitive: true, strict: true });
  const all = [...endpoints, ...referenceEndpoints(endpoints, deps)];
  const shown = new Set(all.filter(({ method }) => method === 'get').map(({ path }) => path));
  const literal = new Set(all.filter(({ path }) => !path.includes('{')).map(({ path }) => `${BASE_PATH}${path}`));
  for (const endpoint of all.toSorted((a, b) => specificity(a) - specificity(b))) {
    const served = serve(endpoint, deps, shown.has(`${endpoint.path}/{id}`));
    // A literal path is not an id: `PUT /users/me` is a 405.
    const unlessLiteral: Middleware = (ctx, next) => (literal.has(ctx.path) ? next() : served(ctx, next));
    router[endpoint.method](
      routed(endpoint.path),
      (endpoint.path.includes('{') ? unlessLiteral : served) as unknown as RouterMiddleware<RequestState, DefaultContext>,
    );
  }

  const outside = new Router<RequestState, DefaultContext>({ sensitive: true, strict: true });
  for (const page of pages)
    outside.register(
      routed(page.path),
      [...page.methods],
      servePage(page, deps) as unknown as RouterMiddleware<RequestState, DefaultContext>,
    );

  // The bare address leads to the API reference.
  outside.get('/', (ctx) => ctx.redirect(`${BASE_PATH}/docs`));

  app.use(observe({ ...deps }));
  app.use(securityHeaders({ https: deps.apiUrl.startsWith('https:') }));
  app.use(errors);
  app.use(tenantGuard(deps));
  app.use(deps.web.middleware);
  app.use(router.routes() as unknown as Middleware);
  app.use(outside.routes() as unknown as Middleware);
  app.use(noEndpoint(router, outside, literal, deps));
  return app;
}

/** A path as the router takes it: `/files/:id`. */
const routed = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** `/users/me` goes before `/users/{id}`. */
const specificity = (endpoint: Endpoint): number => endpoint.path.split('{').length - 1;

const CLIENT_WENT_AWAY = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECANCELED']);

/** Refuses malformed requests, and pages for another tenant; they are counted like any request. The API checks X-Tenant-ID after the token (`serve`). */
function tenantGuard(deps: AppDeps): Middleware {
  return async (ctx, next) => {
    const refusal = refusalOf(ctx.req);
    if (refusal) {
      if (isApi(ctx.path)) await deps.admission.admit(ctx, 'api');
      throw refusal;
    }
    if (!isApi(ctx.path)) requireTenant(ctx.req, deps.tenant);
    return next();
  };
}

const isApi = (path: string): boolean => path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);

type Routes = Router<RequestState, DefaultContext>;

/** 404, or 405 with `Allow` where another method is taken. Counted like any request. */
function noEndpoint(api: Routes, outside: Routes, literal: ReadonlySet<string>, deps: AppDeps): Middleware {
  const methodsOf = (routes: Routes, { path, method }: Context): Set<string> =>
    new Set(routes.match(path, method).path.flatMap((layer) => (literal.has(path) && layer.path !== path ? [] : layer.methods)));
  return async (ctx) => {
    const methods = methodsOf(isApi(ctx.path) ? api : outside, ctx);
    if (methods.size === 0 && !isApi(ctx.path)) throw new Problem('not_found');
    await deps.admission.admit(ctx, isApi(ctx.path) ? 'api' : 'page');
    requireTenant(ctx.req, deps.tenant);
    if (methods.size === 0) throw new Problem('not_found', 'This API has no such path.');
    throw new Problem('method_not_allowed', undefined, { headers: { Allow: [...methods].sort().join(', ') } });
  };
}
