/** A message of LTI platform storage (1EdTech LTI Platform Storage 0.1), without what `exchange` adds. */
export type Request =
  | { readonly subject: 'lti.put_data'; readonly key: string; readonly value: string }
  | { readonly subject: 'lti.get_data'; readonly key: string };

/** The part of a window that a message is posted to. */
export interface Target {
  postMessage(message: unknown, targetOrigin: string): void;
}

/** The page's own window, where replies arrive. */
export interface Listener {
  addEventListener(type: 'message', listen: (event: Reply) => void): void;
  removeEventListener(type: 'message', listen: (event: Reply) => void): void;
}

export interface Reply {
  readonly origin: string;
  readonly data: unknown;
}

/**
 * Sends a request to the platform's frame and waits for its reply. Returns the value under the key; null if the platform says
 * that there is none; undefined if it refuses or does not answer within `timeoutMs`. Only a reply from `origin` with the
 * request's own `message_id` counts.
 */
export function exchange(
  request: Request,
  to: { target: Target; origin: string; listener: Listener; messageId: string; timeoutMs: number },
): Promise<string | null | undefined> {
  return new Promise((resolve) => {
    const end = (value: string | null | undefined): void => {
      clearTimeout(timer);
      to.listener.removeEventListener('message', listen);
      resolve(value);
    };
    const listen = ({ origin, data }: Reply): void => {
      if (origin !== to.origin || typeof data !== 'object' || data === null) return;
      const reply = data as { subject?: unknown; message_id?: unknown; value?: unknown; error?: unknown };
      if (reply.message_id !== to.messageId || reply.subject !== `${request.subject}.response`) return;
      if (reply.error !== undefined && reply.error !== null) end(undefined);
      else end(typeof reply.value === 'string' ? reply.value : null);
    };
    const timer = setTimeout(() => end(undefined), to.timeoutMs);
    to.listener.addEventListener('message', listen);
    to.target.postMessage({ ...request, message_id: to.messageId }, to.origin);
  });
}

/** The part of a window that is needed to find the platform's frame. */
export interface Framed<W> {
  readonly parent: W;
  readonly opener: W | null;
}

/**
 * Returns the window with the platform's storage: the parent (otherwise the opener), or the frame of that name in it. Returns
 * undefined if there is neither.
 */
export function storageWindow<W extends { readonly frames: unknown }>(page: W & Framed<W>, frame: string): W | undefined {
  const platform = page.parent === page ? page.opener : page.parent;
  if (!platform) return undefined;
  if (frame === '_parent') return platform;
  try {
    const found = (platform.frames as Record<string, (W & Partial<Target>) | undefined>)[frame];
    return typeof found?.postMessage === 'function' ? found : undefined;
  } catch {
    // A window of another origin throws if it has no such frame, or if the name is another property such as its location.
    return undefined;
  }
}
