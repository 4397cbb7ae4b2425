import { Field, type FieldProps } from './field.tsx';
import { Icon } from './icon.tsx';
import './select.css';

interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly isDisabled?: boolean;
  /** Stands above this option and those after it with the same one. */
  readonly group?: string;
}

interface Props<Value extends string> extends FieldProps {
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly options: readonly Option<Value>[];
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
            {grouped(options).map(([group, within]) =>
              group === undefined ? within.map(optionOf) : <optgroup label={group}>{within.map(optionOf)}</optgroup>,
            )}
          </select>
          <span class="c-select-sign">
            <Icon name="chevron-down" size="s" />
          </span>
        </div>
      )}
    </Field>
  );
}

const optionOf = ({ value, label, isDisabled = false }: Option<string>) => (
  <option key={value} value={value} disabled={isDisabled}>
    {label}
  </option>
);

/** Puts neighbours of one group together. */
function grouped(options: readonly Option<string>[]): [string | undefined, Option<string>[]][] {
  const groups: [string | undefined, Option<string>[]][] = [];
  for (const option of options) {
    const last = groups.at(-1);
    if (last && last[0] === option.group) last[1].push(option);
    else groups.push([option.group, [option]]);
  }
  return groups;
}
