import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './text-field.tsx';

interface Props {
  /** The question: "Delete 3 files forever?" */
  readonly title: string;
  /** What will be lost, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** What happens, as a verb: "Delete forever". */
  readonly confirmLabel: string;
  readonly cancelLabel: string;
  readonly isDanger?: boolean | undefined;
  /** What must be typed first, for what can never be undone. */
  readonly typed?: { readonly text: string; readonly label: string } | undefined;
  /** The dialog waits for it. It must not reject: show what went wrong as children, or after the dialog. */
  readonly onConfirm: () => void | Promise<void>;
  readonly onCancel: () => void;
}

/** Asks before something that cannot be undone. What can be undone happens at once, with "Undo" in a toast. */
export function Confirm({ title, children, confirmLabel, cancelLabel, isDanger = false, typed, onConfirm, onCancel }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed.text;
  const confirm = (): void => {
    if (!isReady || isBusy) return;
    setBusy(true);
    void Promise.resolve(onConfirm()).finally(() => setBusy(false));
  };
  return (
    <Dialog
      title={title}
      closeLabel={cancelLabel}
      size="s"
      role="alertdialog"
      isHeld={isBusy}
      onClose={onCancel}
      onSubmit={confirm}
      actions={
        <>
          <Button onClick={onCancel} disabled={isBusy} autofocus={isDanger}>
            {cancelLabel}
          </Button>
          <Button kind={isDanger ? 'danger' : 'primary'} type="submit" isBusy={isBusy} disabled={!isReady}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      {typeof children === 'string' ? <p>{children}</p> : children}
      {typed && <TextField label={typed.label} value={text} onValue={setText} autocomplete="off" />}
    </Dialog>
  );
}
