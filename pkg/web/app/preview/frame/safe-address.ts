const WEB = /^(https?:|mailto:)/i;

/** Returns an address that may be opened in a browser, absolute; undefined for others: scripts, data, files of a program. */
export function safeAddress(href: string): string | undefined {
  if (!WEB.test(href.trim())) return undefined;
  try {
    return new URL(href.trim()).href;
  } catch {
    return undefined;
  }
}
