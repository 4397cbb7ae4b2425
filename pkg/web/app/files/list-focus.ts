let isWanted = false;

/** The list that is shown next takes the focus: somebody opened a folder from the list before it. */
export const wantListFocus = (): void => void (isWanted = true);

/** Returns, once, whether the list takes it. Whoever has gone elsewhere meanwhile stays there. */
export function takesListFocus(): boolean {
  const focused = document.activeElement;
  const takes = isWanted && (focused === document.body || focused?.id === 'main');
  isWanted = false;
  return takes;
}
