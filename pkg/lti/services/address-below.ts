/** Appends `part` to a line item's path, before a query (AGS 2.0 §3.3.1, §3.4.1; Moodle's line items have one). */
export function addressBelow(lineItem: string, part: 'scores' | 'results'): string {
  const url = new URL(lineItem);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${part}`;
  url.hash = '';
  return url.href;
}
