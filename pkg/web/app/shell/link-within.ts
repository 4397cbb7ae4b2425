import { IN_APP } from '../routes.tsx';

/** Returns the path and query to which a click leads within this tab and the app; undefined if it does not. */
export function linkWithin(event: MouseEvent): string | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return undefined;
  const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement && element.href !== '');
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.hasAttribute('download')) return undefined;
  const href = link.getAttribute('href') ?? '';
  if (href.startsWith('#') || (link.target !== '' && link.target !== '_self')) return undefined;
  const address = `${link.pathname}${link.search}`;
  return IN_APP.test(address) ? address : undefined;
}
