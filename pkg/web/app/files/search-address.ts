/** Returns the address of a search: its words (`q`) and its filters. What is empty is left out. */
export function searchAddress(search: Readonly<Record<string, string>>): string {
  const given = new URLSearchParams(Object.entries(search).filter(([, value]) => value !== ''));
  const query = String(given);
  return query === '' ? '/search' : `/search?${query}`;
}
