import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import { Icon } from './icon.tsx';
import { IconButton } from './icon-button.tsx';
import { RequestId } from './request-id.tsx';
import { type Toast, toasts } from './toasts.ts';
import './toast.css';

export { toasts } from './toasts.ts';

/** Long enough to read a sentence; longer where there is something to do (WCAG 2.2.1: it waits while pointed at or focused). */
const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;

interface Props {
  readonly label: string;
  readonly closeLabel: string;
  readonly isTopmost: boolean;
}

/**
 * Where toasts appear while it is the topmost (status.tsx). Screen readers say each as it comes. A failure stays until it is
 * closed.
 */
export function ToastArea({ label, closeLabel, isTopmost }: Props) {
  const [shown, setShown] = useState(toasts.shown);
  useEffect(() => toasts.subscribe(() => setShown(toasts.shown)), []);
  return (
    // Without a name it is no landmark: a page has one of this name.
    <section class="c-toasts" aria-label={isTopmost ? label : undefined}>
      {/* Not atomic: only the toast that has come is read, not those that are still there. */}
      <div role="status" aria-atomic="false" class="c-toasts-list">
        {isTopmost && shown.map((toast) => <Shown key={toast.id} toast={toast} closeLabel={closeLabel} />)}
      </div>
    </section>
  );
}

function Shown({ toast, closeLabel }: { toast: Toast; closeLabel: string }) {
  const [isPointed, setPointed] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const isHeld = isPointed || hasFocus;
  const { id, text, tone, action, requestId } = toast;
  const close = (): void => toasts.close(id);
  useEffect(() => {
    toasts.hold(id, isHeld);
    return () => toasts.hold(id, false);
  }, [isHeld, id]);
  useEffect(() => {
    if (isHeld || tone === 'danger') return undefined;
    const timer = setTimeout(close, action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, id]);
  return (
    <div
      class={classes('c-toast', tone === 'danger' && 'c-toast-danger')}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocusIn={() => setFocus(true)}
      onFocusOut={() => setFocus(false)}
    >
      {tone !== 'neutral' && <Icon name={tone === 'danger' ? 'alert' : 'check'} />}
      <div class="c-toast-text">
        <p>{text}</p>
        <RequestId id={requestId} />
      </div>
      {action && (
        <Button
          kind="quiet"
          size="s"
          onClick={() => {
            close();
            action.onSelect();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon="close" size="s" label={closeLabel} onClick={close} />
    </div>
  );
}
