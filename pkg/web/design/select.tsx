import { Field, type FieldProps } from './field.tsx';
import { Icon } from './icon.tsx';
import './select.css';

interface Props<Value extends string> extends FieldProps {
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly isDisabled?: boolean }[];
  readonly name?: string;
  readonly disabled?: boolean;
}

/** One of a few values, with the browser's own list, which every keyboard and screen reader knows. */
export function Select<Value extends string>(props: Props<Value>) {
  const { label, isLabelHidden, hint, error, class: name, value, onValue, options, ...native } = props;
  return (
    <Field label={label} isLabelHidden={isLabelHidden} hint={hint} error={error} class={name}>
      {(tied) => (
        <div class="c-input-box">
          <select
            {...native}
            {...tied}
            class="c-input c-select"
            value={value}
            onChange={({ currentTarget }) => onValue(currentTarget.value as Value)}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value} disabled={option.isDisabled ?? false}>
                {option.label}
              </option>
            ))}
          </select>
          <span class="c-select-sign">
            <Icon name="chevron-down" size="s" />
          </span>
        </div>
      )}
    </Field>
  );
}
