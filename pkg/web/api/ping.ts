/** Asks the service for nothing but a reply; undefined if no server answered. */
export const ping = (): Promise<Response | undefined> =>
  fetch('/', { method: 'HEAD', credentials: 'omit', cache: 'no-store' }).catch(() => undefined);

/** Says whether the service answers now; a proxy that answers for it does not count. */
export const isAnswering = async (): Promise<boolean> => (await ping())?.ok === true;
