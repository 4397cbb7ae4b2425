import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/backends/backends.ts';
import type { Samples } from './over-pages.ts';

/** The paths of the app, as its list of routes has them: a new page is looked at without a line here. */
export const ROUTES = [...readFileSync(join(ROOT, 'pkg/web/app/routes.tsx'), 'utf8').matchAll(/\bpath: '([^']+)'/g)].map(
  ([, path = '']) => path,
);

/** What stands for the parameters of a path. A route with one that is not here fails. */
const PARAMETERS: Readonly<Record<string, (samples: Samples) => string>> = {
  '/files/:id?': (samples) => `/files/${samples.folder('Field course')}`,
  '/jobs/:id': ({ job }) => `/jobs/${job}`,
  '/courses/:id': ({ course }) => `/courses/${course}`,
  '/admin/lms/:id': ({ registration }) => `/admin/lms/${registration}`,
  '/admin/webhooks/:id': ({ webhook }) => `/admin/webhooks/${webhook}`,
  '/admin/schedules/:id': ({ schedule }) => `/admin/schedules/${schedule}`,
  '/admin/people/:id': ({ person }) => `/admin/people/${person}`,
  '/admin/groups/:id': ({ group }) => `/admin/groups/${group}`,
};

export function addressOfRoute(path: string, samples: Samples): string {
  if (path === '/search') return '/search?q=light';
  if (!path.includes(':')) return path;
  const address = PARAMETERS[path];
  if (!address) throw new Error(`say in PARAMETERS which of the sample data ${path} shows`);
  return address(samples);
}
