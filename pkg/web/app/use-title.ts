import { useEffect } from 'preact/hooks';

/** The tenant's name, which the server writes into the document: it is known before anybody is signed in. */
export const tenantName = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name=application-name]')?.content ?? 'Carrel';

/** Names the page in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – ${tenantName()}`;
  }, [title]);
}
