import { type ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import { exec } from 'preact-iso/router';
import type { IconName } from '../design/icon.tsx';
import type { Key } from '../text/shell.ts';
import { latePage } from './late-page.tsx';
import { useFirstView } from './shell/first-view.ts';
import { loadedLater } from './use-later.ts';

/** A component whose script is loaded when it is first shown, or before. */
type Page = ComponentType & { readonly preload: () => Promise<unknown> };

/** A page of the app. */
export interface AppRoute {
  /** As preact-iso matches it: `/files/:id?`, `/admin/*`. Its first segment is also one of SECTIONS in pkg/http/app-page.ts. */
  readonly path: string;
  readonly page: Page;
  /** Its entry in the main navigation; without one it has none. */
  readonly nav?: {
    readonly href: string;
    readonly label: Key;
    readonly icon: IconName;
    readonly permission?: string;
    /** What the tenant must offer. */
    readonly feature?: 'lti';
  };
}

/** Loads the script of a route when it is first shown, and its texts in the language of the page. */
function page(load: () => Promise<ComponentType>): Page {
  const loaded = async (): Promise<ComponentType> => withFirstView(await loadedLater(load));
  return lazy(async () => ({ default: await loaded().catch(() => latePage(loaded)) }));
}

/** What the first view does not need is loaded once a page is shown. */
function withFirstView(Shown: ComponentType): ComponentType {
  return function InFirstView(props) {
    useFirstView();
    return <Shown {...props} />;
  };
}

/** All pages, in the order of the main navigation. A new one is a line here and a folder of its own. */
export const ROUTES: readonly AppRoute[] = [
  {
    path: '/files/:id?',
    page: page(async () => (await import('./files/files-page.tsx')).FilesPage),
    nav: { href: '/', label: 'nav.files', icon: 'folder' },
  },
  {
    path: '/recent',
    page: page(async () => (await import('./files/list-pages.tsx')).RecentPage),
    nav: { href: '/recent', label: 'nav.recent', icon: 'recent' },
  },
  {
    path: '/shared',
    page: page(async () => (await import('./files/list-pages.tsx')).SharedPage),
    nav: { href: '/shared', label: 'nav.shared', icon: 'people' },
  },
  {
    path: '/links',
    page: page(async () => (await import('./links/links-page.tsx')).LinksPage),
    nav: { href: '/links', label: 'nav.links', icon: 'link', permission: 'share:files' },
  },
  {
    path: '/trash',
    page: page(async () => (await import('./files/list-pages.tsx')).TrashPage),
    nav: { href: '/trash', label: 'nav.trash', icon: 'trash' },
  },
  {
    path: '/jobs',
    page: page(async () => (await import('./jobs/jobs-page.tsx')).JobsPage),
    nav: { href: '/jobs', label: 'nav.jobs', icon: 'jobs' },
  },
  { path: '/jobs/:id', page: page(async () => (await import('./jobs/job-page.tsx')).JobPage) },
  {
    path: '/courses',
    page: page(async () => (await import('./courses/courses-page.tsx')).CoursesPage),
    nav: { href: '/courses', label: 'nav.courses', icon: 'course', permission: 'write:grades', feature: 'lti' },
  },
  { path: '/courses/:id', page: page(async () => (await import('./courses/course-page.tsx')).CoursePage) },
  { path: '/search', page: page(async () => (await import('./files/search-page.tsx')).SearchPage) },
  { path: '/', page: page(async () => (await import('./welcome/home-page.tsx')).HomePage) },
  { path: '/welcome', page: page(async () => (await import('./welcome/welcome-page.tsx')).WelcomePage) },
  {
    path: '/admin/people',
    page: page(async () => (await import('./admin/people-page.tsx')).PeoplePage),
    nav: { href: '/admin/people', label: 'nav.admin', icon: 'admin', permission: 'read:users' },
  },
  { path: '/admin/lms', page: page(async () => (await import('./admin/lms-page.tsx')).LmsPage) },
  { path: '/admin/lms/:id', page: page(async () => (await import('./admin/lti/registration-page.tsx')).RegistrationPage) },
  { path: '/admin/webhooks', page: page(async () => (await import('./admin/webhooks/webhooks-page.tsx')).WebhooksPage) },
  { path: '/admin/webhooks/:id', page: page(async () => (await import('./admin/webhooks/webhook-page.tsx')).WebhookPage) },
  { path: '/admin/schedules', page: page(async () => (await import('./admin/schedules/schedules-page.tsx')).SchedulesPage) },
  { path: '/admin/schedules/:id', page: page(async () => (await import('./admin/schedules/schedule-page.tsx')).SchedulePage) },
  { path: '/admin/people/:id', page: page(async () => (await import('./admin/people/person-page.tsx')).PersonPage) },
  { path: '/admin/groups', page: page(async () => (await import('./admin/groups/groups-page.tsx')).GroupsPage) },
  { path: '/admin/groups/:id', page: page(async () => (await import('./admin/groups/group-page.tsx')).GroupPage) },
  { path: '/admin/usage', page: page(async () => (await import('./admin/usage/usage-page.tsx')).UsagePage) },
  { path: '/admin/audit', page: page(async () => (await import('./admin/audit/audit-page.tsx')).AuditPage) },
  { path: '/admin/links', page: page(async () => (await import('./admin/link-rules-page.tsx')).LinkRulesPage) },
  { path: '/admin/tenant', page: page(async () => (await import('./admin/tenant/tenant-page.tsx')).TenantPage) },
  { path: '/design', page: page(async () => (await import('../design/gallery/gallery.tsx')).Gallery) },
];

/** First segments of the app's addresses that have no route: signing in, a new password, and what nobody has built yet. */
const WITHOUT_ROUTE = ['account', 'reset', 'sign-in'];

const sections = [...new Set([...ROUTES.map(({ path }) => path.split('/')[1] ?? ''), ...WITHOUT_ROUTE])];

/** Matches the addresses (path and query) of the app. A link to another address loads a document. */
export const IN_APP = new RegExp(`^/(?:${sections.join('|')})(?:[/?#]|$)`);

/** Loads the script of the page at `path` before it is shown. Resolves also if that fails: the page asks when it is shown. */
export async function loadPageAt(path: string): Promise<void> {
  try {
    await ROUTES.find((route) => exec(path, route.path))?.page.preload();
  } catch {
    // An address that cannot be decoded, or a script that cannot be loaded.
  }
}
