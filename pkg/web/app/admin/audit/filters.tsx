import { Button } from '../../../design/button.tsx';
import { Tag } from '../../../design/badge.tsx';
import { Select } from '../../../design/select.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/audit.ts';
import { PersonPicker } from '../person-picker.tsx';
import { ACTIONS, allOf, type Filter, kindOf, TARGET_TYPES } from './filter.ts';

interface Props {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
}

/** What is looked for: who, what, when. */
export function Filters({ filter, onFilter }: Props) {
  const { who = '', whoName = '', what = '', when = '', from = '', to = '', about = '', aboutName = '' } = filter;
  const set = (changed: Filter): void => onFilter({ ...filter, ...changed });
  const kinds = TARGET_TYPES.flatMap((type) => {
    const group = t(`type.${type}`);
    const actions = ACTIONS.filter((action) => kindOf(action) === type);
    const each = actions.map((action) => ({ value: action as string, label: t(`action.${action}`), group }));
    return each.length > 1 ? [{ value: allOf(type), label: t('allOf', { type: group }), group }, ...each] : each;
  });
  const isAny = Object.values(filter).some((value) => value !== '');
  return (
    <div class="audit-filters" role="group" aria-label={t('filters')}>
      <PersonPicker
        label={t('who')}
        placeholder={t('whoHint')}
        chosen={who === '' ? undefined : { id: who, name: whoName || who }}
        onChoose={(person) => set({ who: person?.id ?? '', whoName: person?.name ?? '' })}
      />
      <Select
        label={t('what')}
        value={what}
        onValue={(value) => set({ what: value })}
        options={[{ value: '', label: t('anything') }, ...kinds]}
      />
      <Select
        label={t('when')}
        value={when}
        onValue={(value) => set({ when: value })}
        options={[
          { value: '', label: t('anyTime') },
          { value: 'day', label: t('lastDay') },
          { value: 'week', label: t('lastWeek') },
          { value: 'month', label: t('lastMonth') },
          { value: 'dates', label: t('dates') },
        ]}
      />
      {when === 'dates' && (
        <>
          <TextField label={t('from')} type="date" value={from} max={to} onValue={(value) => set({ from: value })} />
          <TextField label={t('to')} type="date" value={to} min={from} onValue={(value) => set({ to: value })} />
        </>
      )}
      {isAny && (
        <div class="audit-chosen">
          {about !== '' && (
            <>
              <span class="admin-quiet">{t('about')}</span>
              <Tag
                removeLabel={t('aboutAll', { name: aboutName || about })}
                onRemove={() => set({ about: '', aboutName: '', aboutType: '' })}
              >
                {aboutName || about}
              </Tag>
            </>
          )}
          <Button kind="quiet" size="s" icon="close" onClick={() => onFilter({})}>
            {t('reset')}
          </Button>
        </div>
      )}
    </div>
  );
}
