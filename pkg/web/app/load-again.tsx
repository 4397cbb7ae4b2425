import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { t } from '../text/shell.ts';

/** How a form goes on after somebody else has changed what it changes (snapshot.tsx). */
interface WayOn {
  /** The page behind the form shows what is no longer so. */
  readonly onStale: (() => void) | undefined;
  /** Begins the form anew with what is so now; `button` is within it. */
  readonly loadAgain: (button: Element) => Promise<void>;
}

export const WayOnContext = createContext<WayOn | undefined>(undefined);

/** The way on from `precondition_failed`, within a form that has one. */
export function LoadAgain() {
  const wayOn = useContext(WayOnContext);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => wayOn?.onStale?.(), []);
  if (!wayOn) return null;
  return (
    <Button
      size="s"
      icon="refresh"
      isBusy={isBusy}
      onClick={({ currentTarget }) => {
        setBusy(true);
        void wayOn.loadAgain(currentTarget as Element).finally(() => setBusy(false));
      }}
    >
      {t('failure.loadAgain')}
    </Button>
  );
}
