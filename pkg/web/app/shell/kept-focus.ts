/**
 * Something with the focus may leave the page: a row that was deleted, buttons for what was selected, a link on the former page.
 * Browsers then give the focus to the document, where the keys of a list do nothing and a screen reader begins anew. The focus
 * goes to the content instead, or stays in the dialog that is open, unless a component has moved it by then. Once a page.
 */
export function keepFocus(): void {
  let last: Element | null = null;
  const isLost = (): boolean => last?.isConnected === false && document.activeElement === document.body;
  document.addEventListener('focusin', ({ target }) => void (last = target as Element));
  new MutationObserver(() => {
    if (!isLost()) return;
    // What a component shows next has one frame to come, and another one to take the focus.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (isLost()) successor()?.focus({ preventScroll: true });
      }),
    );
  }).observe(document.body, { childList: true, subtree: true });
}

/** What begins the open dialog, or the page: the field that one fills in first, else its first button, or the content. */
function successor(): HTMLElement | null {
  const dialog = [...document.querySelectorAll('dialog:modal')].at(-1);
  const within = dialog ?? document;
  return within.querySelector<HTMLElement>('[autofocus]') ?? within.querySelector<HTMLElement>(dialog ? 'button' : '#main');
}
