/**
 * Calls `ask` every `ms` while the page is visible, and once when it becomes visible again. Returns the function that ends that.
 */
export function whileVisible(ask: () => void, ms: number): () => void {
  const look = (): void => {
    if (document.visibilityState === 'visible') ask();
  };
  const timer = setInterval(look, ms);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
