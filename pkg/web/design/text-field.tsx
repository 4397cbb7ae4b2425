import type { PartialInputHTMLAttributes, Ref, TextareaHTMLAttributes } from 'preact';
import { Field, type FieldProps } from './field.tsx';
import { Icon, type IconName } from './icon.tsx';
import { IconButton } from './icon-button.tsx';

interface Own extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

type Native<T> = Omit<T, keyof Own | 'onInput' | 'id' | 'ref' | 'icon' | 'type'>;

interface Props extends Own, Native<PartialInputHTMLAttributes<HTMLInputElement>> {
  readonly type?: 'text' | 'email' | 'search' | 'url' | 'number' | 'date' | 'datetime-local' | 'tel' | undefined;
  readonly icon?: IconName | undefined;
  /** Shows a button that empties the field, with this label. */
  readonly clearLabel?: string | undefined;
  readonly inputRef?: Ref<HTMLInputElement> | undefined;
}

/** One line of text. */
export function TextField(props: Props) {
  const { label, isLabelHidden, hint, error, class: name, value, onValue, type = 'text', icon, clearLabel, ...rest } = props;
  const { inputRef, ...native } = rest;
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} class={name}>
      {(tied) => (
        <div class="c-input-box">
          {icon && <Icon name={icon} />}
          <input
            {...({ ...native, type } as object)}
            {...tied}
            {...(inputRef ? { ref: inputRef } : {})}
            class="c-input"
            value={value}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
          {clearLabel !== undefined && value !== '' && (
            <IconButton
              icon="close"
              size="s"
              label={clearLabel}
              onClick={({ currentTarget }) => {
                // The button goes with the text; whoever empties a field types something else.
                currentTarget.parentElement?.querySelector('input')?.focus();
                onValue('');
              }}
            />
          )}
        </div>
      )}
    </Field>
  );
}

interface AreaProps extends Own, Native<TextareaHTMLAttributes> {}

/** Several lines of text; the field grows with them where the browser can. */
export function TextArea({ label, isLabelHidden, hint, error, class: name, value, onValue, ...native }: AreaProps) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} class={name}>
      {(tied) => (
        <textarea
          rows={3}
          {...(native as object)}
          {...tied}
          class="c-input"
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}
