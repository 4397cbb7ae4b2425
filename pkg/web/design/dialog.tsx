import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { classes } from './classes.ts';
import { showFirstError } from './first-error.ts';
import { IconButton } from './icon-button.tsx';
import { Status } from './status.tsx';
import { holdsUnsent, onceDiscarded } from './unsent.ts';
import './dialog.css';

interface Props {
  readonly title: string;
  readonly closeLabel: string;
  /**
   * Escape, the button of the corner, and whatever else of it closes. The parent then stops rendering it. If a form within holds
   * what somebody has entered, the page asks first (unsent.ts).
   */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** The buttons below, the one that does it last. */
  readonly actions?: ComponentChildren;
  /**
   * Makes it a form: its submit button and Enter in a field call this. The focus goes to the first error that is shown then, or
   * once it is no longer held.
   */
  readonly onSubmit?: ((form: HTMLFormElement) => void) | undefined;
  /** It cannot be left now: something runs, or there is nothing behind it to return to. */
  readonly isHeld?: boolean | undefined;
  readonly size?: 's' | 'm' | 'l' | undefined;
  readonly role?: 'dialog' | 'alertdialog' | undefined;
  /** It has nothing but text, so that the text itself takes the focus: otherwise keys could not scroll it (WCAG 2.1.1). */
  readonly isText?: boolean | undefined;
}

/** A modal dialog, open as long as it is rendered. The browser holds the focus in it; afterwards the focus returns. */
export function Dialog(props: Props) {
  const { title, closeLabel, onClose, children, actions, onSubmit, isHeld = false, size = 'm', role = 'dialog', isText } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  /** How often it was submitted: the same errors are shown again. */
  const [submits, setSubmits] = useState(0);
  const heading = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    const former = document.activeElement as Partial<HTMLInputElement> | null;
    const caret = former?.selectionStart ?? undefined;
    shown?.showModal();
    return () => {
      isGone.current = true;
      shown?.close(); // before it leaves the document: this returns the focus
      // A field gets the focus back without a caret, and keys would write nothing.
      if (caret !== undefined && former === document.activeElement) former?.setSelectionRange?.(caret, caret);
    };
  }, []);

  useLayoutEffect(() => {
    if (submits > 0 && !isHeld && form.current) showFirstError(form.current);
  }, [submits, isHeld]);

  const close = (): void => onceDiscarded(dialog.current, onClose);
  const cancel = (event: Event): void => {
    if (event.target !== dialog.current) return; // of a file input within
    event.preventDefault();
    if (!isHeld) close();
  };
  /** A second Escape without a click or a key between them closes it whatever the page has said to the first. */
  const closed = (): void => {
    if (isGone.current) return;
    if (isHeld || holdsUnsent(dialog.current)) dialog.current?.showModal();
    if (!isHeld) close();
  };
  const body = (
    <>
      <div class="c-dialog-body" tabIndex={isText ? 0 : undefined}>
        {children}
      </div>
      {actions !== undefined && <div class="c-dialog-actions">{actions}</div>}
    </>
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    setSubmits(submits + 1);
    onSubmit?.(event.currentTarget as HTMLFormElement);
  };
  return (
    <dialog
      ref={dialog}
      role={role}
      class={classes('c-dialog', `c-dialog-${size}`)}
      aria-labelledby={heading}
      onCancel={cancel}
      onClose={closed}
      // Keys of a dialog are not those of the page behind it.
      onKeyDown={(event) => event.stopPropagation()}
    >
      {/* No <header>: outside of <main> that is the banner of the page. */}
      <div class="c-dialog-head">
        <h2 id={heading} class="c-dialog-title">
          {title}
        </h2>
        {!isHeld && <IconButton icon="close" label={closeLabel} onClick={close} />}
      </div>
      {onSubmit ? (
        <form ref={form} class="c-dialog-form" noValidate onSubmit={submit}>
          {body}
        </form>
      ) : (
        body
      )}
      <Status />
    </dialog>
  );
}
