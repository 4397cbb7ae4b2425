/** Saves a table in UTF-8. Without the mark at its beginning Excel takes it for one in the code page of the machine. */
export const saveTable = (table: Blob, name: string): void => saveBlob(new Blob(['\uFEFF', table], { type: 'text/csv' }), name);

/** Lets the browser save what the page has, under a name. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the address after this event.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
