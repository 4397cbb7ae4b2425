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
