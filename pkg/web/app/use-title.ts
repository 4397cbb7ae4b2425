import { useEffect } from 'preact/hooks';

/** The tenant's name, which the server writes into the document: it is known before anybody is signed in. */
export const tenantName = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name=application-name]')?.content ?? 'Carrel';

/** What is shown: a page, and perhaps a file over it. */
const shown: { page?: string; over?: string | undefined } = {};

function nameDocument(): void {
  const title = shown.over ?? shown.page;
  if (title !== undefined) document.title = `${title} – ${tenantName()}`;
}

/** Names the page in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    shown.page = title;
    nameDocument();
  }, [title]);
}

/** Names what is shown over the page. The page behind it may get its own title meanwhile, and names the tab afterwards. */
export function useTitleOver(title: string | undefined): void {
  useEffect(() => {
    shown.over = title;
    nameDocument();
    return () => {
      shown.over = undefined;
      nameDocument();
    };
  }, [title]);
}
