import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import './checkbox.css';

interface Props {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  /** Some of what it stands for is chosen, not all. */
  readonly isMixed?: boolean | undefined;
  /** The label is the name of the box alone, no text: the place says what the box is for. */
  readonly isLabelHidden?: boolean | undefined;
  readonly hint?: ComponentChildren;
  readonly disabled?: boolean | undefined;
  readonly name?: string | undefined;
  /** −1 where a component around it moves the focus by itself. */
  readonly tabIndex?: number | undefined;
}

/** Yes or no, which takes effect with the form around it. */
export function Checkbox({
  label,
  isChecked,
  onChange,
  isMixed = false,
  isLabelHidden = false,
  hint,
  disabled,
  name,
  tabIndex,
}: Props) {
  const box = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    if (box.current) box.current.indeterminate = isMixed;
  }, [isMixed]);
  return (
    <label class="c-check">
      <input
        ref={box}
        type="checkbox"
        class="c-check-box"
        checked={isChecked}
        disabled={disabled ?? false}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        {...(name === undefined ? {} : { name })}
        {...(tabIndex === undefined ? {} : { tabIndex })}
        {...(isLabelHidden ? { 'aria-label': label } : {})}
        {...(hint === undefined ? {} : tied(id))}
      />
      {!isLabelHidden && (
        <span id={`${id}-label`} class="c-check-label">
          {label}
        </span>
      )}
      {hint !== undefined && (
        <span id={`${id}-hint`} class="c-check-hint">
          {hint}
        </span>
      )}
    </label>
  );
}

/** The hint lies in the label, so that a click on it counts too; but it is no part of the name. */
const tied = (id: string) => ({ 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-hint` });

interface RadioProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly hint?: string }[];
}

/** One of a few values, all shown. */
export function RadioGroup<Value extends string>({ legend, value, onValue, options }: RadioProps<Value>) {
  const name = useId();
  return (
    <fieldset class="c-radios">
      <legend class="c-field-label">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} class="c-check">
          <input
            type="radio"
            name={name}
            class="c-check-box c-check-round"
            checked={option.value === value}
            onChange={() => onValue(option.value)}
            {...(option.hint === undefined ? {} : tied(`${name}-${option.value}`))}
          />
          <span id={`${name}-${option.value}-label`} class="c-check-label">
            {option.label}
          </span>
          {option.hint !== undefined && (
            <span id={`${name}-${option.value}-hint`} class="c-check-hint">
              {option.hint}
            </span>
          )}
        </label>
      ))}
    </fieldset>
  );
}
