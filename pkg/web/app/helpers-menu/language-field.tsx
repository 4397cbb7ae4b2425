import type { FieldProps } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { locale } from '../../text/language.ts';
import { t } from '../../text/helpers.ts';

interface Props {
  /** BCP 47; '' for none yet. */
  readonly value: string;
  readonly onValue: (tag: string) => void;
  /** The languages that the translator knows; undefined if it does not list them. */
  readonly languages: readonly string[] | undefined;
  /** Whether it lists them is not known yet. */
  readonly isLoading: boolean;
  readonly error: FieldProps['error'];
}

/** The language into which something is translated, by its name where the translator lists its languages. */
export function LanguageField({ value, onValue, languages, isLoading, error }: Props) {
  if (isLoading) return <Skeleton label={t('loading')} rows={1} />;
  if (!languages || languages.length === 0)
    return (
      <TextField
        label={t('targetTag')}
        hint={t('targetTagHint')}
        value={value}
        onValue={onValue}
        error={error}
        autocomplete="off"
        autofocus
        maxLength={64}
      />
    );
  const names = new Intl.DisplayNames(locale(), { type: 'language' });
  const options = languages
    .map((tag) => ({ value: tag, label: nameOf(names, tag) }))
    .toSorted((a, b) => a.label.localeCompare(b.label, locale()));
  return <Select label={t('target')} value={value} onValue={onValue} options={options} error={error} />;
}

/** A helper may list what is no language tag. */
function nameOf(names: Intl.DisplayNames, tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
