let guard: ((event: PopStateEvent) => void) | undefined;

/**
 * Lets a guard see that the browser went back or forward before the router does. Once a page, before the router is there:
 * browsers call the listeners of the window in their order, capturing or not.
 */
export function watchHistory(): void {
  addEventListener('popstate', (event) => guard?.(event));
}

/** Sets the guard; undefined: none. */
export function guardHistory(how: typeof guard): void {
  guard = how;
}
