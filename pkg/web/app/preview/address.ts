/** The parameter of each page's address that names the file in the preview. */
const PARAMETER = 'preview';

/** Returns the address of a page with a file in the preview, or with the preview closed. */
export function previewAddress(address: string, id: string | undefined): string {
  const [path = '/', query = ''] = address.split('?');
  const parameters = new URLSearchParams(query);
  if (id === undefined) parameters.delete(PARAMETER);
  else parameters.set(PARAMETER, id);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** Returns which file an address shows in the preview. */
export const previewedIn = (query: Readonly<Record<string, string>>): string | undefined => query[PARAMETER] || undefined;
