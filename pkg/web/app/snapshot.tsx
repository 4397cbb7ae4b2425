import { type ComponentChildren, Fragment } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { onceDiscarded } from '../design/unsent.ts';
import { failureToast } from './failure-toast.ts';
import { WayOnContext } from './load-again.tsx';

interface Props<T> {
  readonly of: T;
  /** Reads what is so now. */
  readonly load: () => Promise<T>;
  /** Reloads the page behind the form, so that the form opens with what is so now if somebody closes it and opens it again. */
  readonly onStale?: () => void;
  /** The form, from the snapshot. */
  readonly children: (snapshot: T) => ComponentChildren;
}

/**
 * Keeps what a form changes as it was when somebody opened the form, with its entity tag, though the page behind reads it
 * again. If somebody else has changed it, the ProblemNote within has a button that begins the form anew. The page asks first
 * if something was entered.
 */
export function Snapshot<T>({ of, load, onStale, children }: Props<T>) {
  const [{ snapshot, turn }, setState] = useState({ snapshot: of, turn: 0 });
  const root = useRef<Element | null>(null);
  const loadAgain = async (button: Element): Promise<void> => {
    root.current = button.closest('form')?.parentElement ?? null;
    try {
      const newest = await load();
      const isClosed = !button.isConnected;
      if (!isClosed) onceDiscarded(root.current, () => setState({ snapshot: newest, turn: turn + 1 }));
    } catch (error) {
      failureToast(error);
    }
  };
  // The button goes with its note. A dialog takes the focus itself.
  useLayoutEffect(() => {
    if (turn > 0 && document.activeElement === document.body)
      root.current?.querySelector<HTMLElement>('form :is(input, select, textarea):enabled')?.focus();
  }, [turn]);
  return (
    <WayOnContext.Provider value={{ onStale, loadAgain }}>
      <Fragment key={turn}>{children(snapshot)}</Fragment>
    </WayOnContext.Provider>
  );
}
