import { RadioGroup } from '../../design/checkbox.tsx';
import { t } from '../../text/helpers.ts';

export type As = 'version' | 'copy';

/** Where the result of a helper goes. */
export const AsField = ({ value, onValue }: { readonly value: As; readonly onValue: (as: As) => void }) => (
  <RadioGroup
    legend={t('as')}
    value={value}
    onValue={onValue}
    options={[
      { value: 'version', label: t('asVersion'), hint: t('asVersionHint') },
      { value: 'copy', label: t('asCopy') },
    ]}
  />
);
