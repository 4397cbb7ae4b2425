import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';
import { IconButton } from './icon-button.tsx';

interface Props extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** `current-password` lets the browser fill it in, `new-password` lets it propose one. */
  readonly autocomplete: 'current-password' | 'new-password' | 'off';
  readonly showLabel: string;
  readonly hideLabel: string;
  readonly name?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly autofocus?: boolean;
}

/** A password, which its writer may look at. */
export function PasswordField({ value, onValue, showLabel, hideLabel, label, isLabelHidden, hint, error, ...rest }: Props) {
  const { class: name, ...native } = rest;
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} class={name}>
      {(tied) => (
        <div class="c-input-box">
          <input
            {...({ ...native, type: isShown ? 'text' : 'password' } as object)}
            {...tied}
            class="c-input"
            spellcheck={false}
            autocapitalize="off"
            value={value}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
          <IconButton
            icon={isShown ? 'eye-off' : 'eye'}
            size="s"
            label={isShown ? hideLabel : showLabel}
            onClick={() => setShown(!isShown)}
          />
        </div>
      )}
    </Field>
  );
}
