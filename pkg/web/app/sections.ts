/**
 * The first segments of the addresses of the app's pages. The server answers each of them with the one document
 * (pkg/http/app-page.ts has the same list, and a test compares them); links to other addresses load a page.
 */
export const SECTIONS = [
  '',
  'account',
  'admin',
  'courses',
  'design',
  'files',
  'jobs',
  'links',
  'recent',
  'reset',
  'search',
  'shared',
  'sign-in',
  'trash',
  'welcome',
] as const;

/** Matches the addresses (path and query) that the router answers. */
export const IN_APP = new RegExp(`^/(?:${SECTIONS.filter((section) => section !== '').join('|')})?(?:[/?#]|$)`);
