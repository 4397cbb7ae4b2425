import { useState } from 'preact/hooks';
import type { FieldProps } from '../../../design/field.tsx';
import { Select } from '../../../design/select.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { locale } from '../../../text/language.ts';
import { t } from '../../../text/person.ts';
import { numberToType, typedNumber } from './typed-number.ts';

/** As in sizes: 1 kB is 1,024 bytes. */
const UNITS = { MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const;
type Unit = keyof typeof UNITS;
const NAMES: readonly Unit[] = ['MB', 'GB', 'TB'];

interface Props {
  readonly bytes: number;
  /** Undefined: what was typed is no number. */
  readonly onBytes: (bytes: number | undefined) => void;
  readonly error?: FieldProps['error'];
}

/** A size as a number with a unit. */
export function QuotaField({ bytes, onBytes, error }: Props) {
  const [unit, setUnit] = useState<Unit>(() => NAMES.findLast((name) => bytes >= UNITS[name]) ?? 'MB');
  const [text, setText] = useState(() => numberToType(bytes / UNITS[unit], locale()));
  const change = (typed: string, of: Unit): void => {
    setText(typed);
    setUnit(of);
    const number = typedNumber(typed, locale());
    const whole = number === undefined ? undefined : Math.round(number * UNITS[of]);
    onBytes(Number.isSafeInteger(whole) ? whole : undefined);
  };
  return (
    <div class="person-quota">
      <TextField
        label={t('quota')}
        inputmode="decimal"
        autocomplete="off"
        value={text}
        onValue={(typed) => change(typed, unit)}
        error={error}
      />
      <Select
        label={t('unit')}
        isLabelHidden
        value={unit}
        onValue={(of) => change(text, of)}
        options={NAMES.map((name) => ({ value: name, label: name }))}
      />
    </div>
  );
}
