import Koa from 'koa';
import type { DefaultContext } from 'koa';
import { BASE_PATH, type Endpoint } from '../api/endpoint.ts';
import type { PageRoute } from '../api/page.ts';
import { Problem } from '../api/problem.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { isTracing } from '../runtime/traces.ts';
import { appPage, isAppPath } from './app-page.ts';
import { writeError } from './middleware/errors.ts';
import { observer } from './middleware/observe.ts';
import { traced } from './middleware/traces.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { refusalOf, requireTenant } from './middleware/tenant.ts';
import { referenceEndpoints } from './openapi/endpoints.ts';
import { type PageDeps, servePage } from './pages.ts';
import { previewFrame } from './preview-frame.ts';
import type { RequestCounts } from './request-counts.ts';
import { serve, type ServeDeps } from './serve.ts';
import type { Context, RequestState } from './request-state.ts';
import { mountRoutes } from './routes.ts';
import type { WebBundle } from './web-bundle.ts';

interface AppDeps extends ServeDeps, PageDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: Random;
  /** The number of proxies in front of the server that are trusted to set X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly web: WebBundle;
  readonly requests: RequestCounts;
}

export type App = Koa<RequestState, DefaultContext>;

/**
 * Creates the application: the endpoints below /api/v1, their OpenAPI document, the pages beside them, and for any other address
 * an error of the same shape, or the app's page that says so.
 */
export function createApp(deps: AppDeps, endpoints: readonly Endpoint[], pages: readonly PageRoute[]): App {
  const app: App = new Koa<RequestState, DefaultContext>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (!CLIENT_WENT_AWAY.has(error.code ?? '')) deps.log.error({ err: error }, 'a reply failed');
  });

  const all = [...endpoints, ...referenceEndpoints(endpoints, deps)];
  const shown = new Set(all.filter(({ method }) => method === 'get').map(({ path }) => path));
  const routes = all.map((endpoint) => ({ ...endpoint, handle: serve(endpoint, deps, shown.has(`${endpoint.path}/{id}`)) }));
  const api = mountRoutes(BASE_PATH, routes, (ctx, methods) => noEndpoint(ctx, true, methods, deps));
  const overridable = routes.filter((endpoint) => endpoint.overridable);
  const overridden = mountRoutes(BASE_PATH, overridable, (ctx) => {
    ctx.method = 'POST';
    return api(ctx);
  });
  // People sign in at the app address; the LTI address, if it is another, has only the pages of launches.
  const { host, origin } = new URL(deps.apiUrl);
  const ofApp = { ...deps, hosts: new Set([host]) };
  const serveApp = servePage(appPage(deps.web, origin), ofApp);
  const serveMissing = servePage(appPage(deps.web, origin, 404), ofApp);
  const frame = previewFrame(deps.web, origin);
  const outside = mountRoutes(
    '',
    [
      ...pages.flatMap((page) => page.methods.map((method) => ({ method, path: page.path, handle: servePage(page, deps) }))),
      { method: 'get', path: frame.path, handle: servePage(frame, ofApp) },
    ],
    (ctx, methods) => {
      if (methods.length > 0) return noEndpoint(ctx, false, methods, deps);
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
      if (isAppPath(ctx.path)) return isRead ? serveApp(ctx) : noEndpoint(ctx, false, ['GET', 'HEAD'], deps);
      return isRead && ctx.get('host').toLowerCase() === host && isOfPerson(ctx)
        ? serveMissing(ctx)
        : noEndpoint(ctx, false, [], deps);
    },
  );

  const observe = observer(deps);
  const setSecurityHeaders = securityHeaders({ https: deps.apiUrl.startsWith('https:') });
  const handle = async (ctx: Context): Promise<void> => {
    const { path } = ctx;
    const isApi = path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
    const refusal = refusalOf(ctx.req);
    if (refusal) return refuse(ctx, isApi, refusal, deps);
    // The API checks X-Tenant-ID after the token (`serve`).
    if (!isApi) requireTenant(ctx.req, deps.tenant);
    if (deps.web.serve(ctx)) return;
    const override = isApi && ctx.method === 'POST' ? overrideOf(ctx) : undefined;
    if (override === undefined) return (isApi ? api : outside)(ctx);
    ctx.method = override;
    return overridden(ctx);
  };
  const answer = async (ctx: Context): Promise<void> => {
    observe(ctx);
    setSecurityHeaders(ctx.res);
    try {
      await handle(ctx);
    } catch (error) {
      writeError(ctx, error);
    }
  };
  app.use(isTracing() ? traced(answer) : answer);
  return app;
}

/** Says whether somebody opens an address in a browser. What lies below /api is for programs alone. */
const isOfPerson = (ctx: Context): boolean => !/^\/api(?:\/|$)/.test(ctx.path) && ctx.get('accept').includes('text/html');

/** Returns the method that a POST stands for. */
function overrideOf({ req }: Context): string | undefined {
  const sent = req.headers['x-http-method-override'];
  const method = typeof sent === 'string' ? sent.toUpperCase() : undefined;
  return method === 'HEAD' ? 'GET' : method;
}

const CLIENT_WENT_AWAY = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECANCELED']);

/** Refuses a malformed request, which counts like any other. */
async function refuse(ctx: Context, isApi: boolean, refusal: Problem, deps: AppDeps): Promise<never> {
  if (isApi) await deps.admission.admit(ctx, 'api');
  throw refusal;
}

/** Throws 404, or 405 with `Allow` if the path has other methods. Counts like any request. */
async function noEndpoint(ctx: Context, isApi: boolean, methods: readonly string[], deps: AppDeps): Promise<never> {
  if (methods.length === 0 && !isApi) throw new Problem('not_found');
  await deps.admission.admit(ctx, isApi ? 'api' : 'page');
  requireTenant(ctx.req, deps.tenant);
  if (methods.length === 0) throw new Problem('not_found', 'This API has no such path.');
  throw new Problem('method_not_allowed', undefined, { headers: { Allow: [...methods].sort().join(', ') } });
}
