const missing = new Set<HTMLLinkElement>();

/** Notes which style sheets do not come: the loader of the build takes them for loaded the next time. Once a page. */
export function watchStyles(): void {
  const failed = ({ target }: Event): void => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') missing.add(target);
  };
  addEventListener('error', failed, { capture: true });
}

/** Asks again for the style sheets that did not come. Throws if one still does not. */
export async function stylesLoaded(): Promise<void> {
  await Promise.all([...missing].map(loadedAgain));
}

function loadedAgain(link: HTMLLinkElement): Promise<void> {
  missing.delete(link);
  const again = link.cloneNode() as HTMLLinkElement;
  return new Promise((resolve, reject) => {
    again.addEventListener('load', () => resolve());
    again.addEventListener('error', () => reject(new Error(`The style sheet ${again.href} did not come.`)));
    link.replaceWith(again);
  });
}
