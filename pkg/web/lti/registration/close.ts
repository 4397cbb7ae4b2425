/** The part of a window that a message is posted to. */
interface Target {
  postMessage(message: unknown, targetOrigin: string): void;
}

/**
 * Tells the LMS that the registration is over (LTI Dynamic Registration 1.0 §3.7): its window is the parent of a frame, or the
 * opener. Its origin is unknown, so the message contains nothing confidential. Returns false if there is no such window.
 */
export function closeAtPlatform<W extends Target>(page: W & { readonly parent: W; readonly opener: W | null }): boolean {
  const windows = [...(page.parent === page ? [] : [page.parent]), ...(page.opener ? [page.opener] : [])];
  for (const window of windows) window.postMessage({ subject: 'org.imsglobal.lti.close' }, '*');
  return windows.length > 0;
}
