import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { classes } from './classes.ts';
import { Icon } from './icon.tsx';
import { RequestId } from './request-id.tsx';
import './field.css';

/** Why a field was refused, by the reply to a request. */
export interface Refusal {
  readonly text: string;
  readonly requestId: string | undefined;
}

/** What every field has around its control. */
export interface FieldProps {
  readonly label: string;
  /** The label is the name of the control alone, no text: where the place says what the field is for (a search). */
  readonly isLabelHidden?: boolean | undefined;
  /** Below the control: what is expected, before anything is wrong. */
  readonly hint?: ComponentChildren;
  /** In place of the hint: what is wrong and what to do. The control is marked invalid. */
  readonly error?: string | Refusal | undefined;
  readonly class?: string | undefined;
}

/** The attributes that tie a control to its label, hint and error. */
interface Tied {
  readonly id: string;
  readonly 'aria-label'?: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

interface Props extends FieldProps {
  readonly children: (tied: Tied) => ComponentChildren;
}

/** Label, control and hint or error, tied together for screen readers. `children` draws the control. */
export function Field({ label, isLabelHidden = false, hint, error, class: name, children }: Props) {
  const id = useId();
  const note = `${id}-note`;
  const refusal = typeof error === 'object' ? error : undefined;
  const wrong = typeof error === 'object' ? error.text : error;
  const hasNote = error !== undefined || (hint !== undefined && hint !== null);
  return (
    <div class={classes('c-field', name)}>
      {!isLabelHidden && (
        <label for={id} class="c-field-label">
          {label}
        </label>
      )}
      {children({
        id,
        ...(isLabelHidden ? { 'aria-label': label } : {}),
        ...(hasNote ? { 'aria-describedby': note } : {}),
        ...(error === undefined ? {} : { 'aria-invalid': true as const }),
      })}
      {hasNote && (
        <p id={note} class={error === undefined ? 'c-field-hint' : 'c-field-error'}>
          {error !== undefined && <Icon name="alert" size="s" />}
          <span>{wrong ?? hint}</span>
        </p>
      )}
      {refusal && <RequestId id={refusal.requestId} />}
    </div>
  );
}
