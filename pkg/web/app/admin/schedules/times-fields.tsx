import type { FieldProps } from '../../../design/field.tsx';
import { Select } from '../../../design/select.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/schedules.ts';
import { faultOf, type Often, OFTEN, type Times, weekdayInWords } from './times.ts';

/** Monday first; 0 is Sunday. */
const WEEK = [1, 2, 3, 4, 5, 6, 0] as const;
const MINUTES = Array.from({ length: 60 }, (_, minute) => String(minute).padStart(2, '0'));

interface Props {
  readonly times: Times;
  readonly onTimes: (times: Times) => void;
  readonly zone: string;
  readonly onZone: (zone: string) => void;
  readonly cronError: FieldProps['error'];
  /** Says what is missing. */
  readonly isTried: boolean;
}

/** When a schedule runs: by a few choices, or by an expression. */
export function TimesFields({ times, onTimes, zone, onZone, cronError, isTried }: Props) {
  const { often, time, weekday, day, cron } = times;
  const change = (changes: Partial<Times>): void => onTimes({ ...times, ...changes });
  const fault = faultOf(times);
  const hasTime = often !== 'hourly' && often !== 'cron';
  return (
    <div class="schedules-times">
      <Select
        label={t('often')}
        value={often}
        onValue={(value: Often) => change({ often: value })}
        options={OFTEN.map((value) => ({ value, label: t(`often.${value}`) }))}
      />
      {often === 'weekly' && (
        <Select
          label={t('weekday')}
          value={String(weekday)}
          onValue={(value) => change({ weekday: Number(value) })}
          options={WEEK.map((value) => ({ value: String(value), label: weekdayInWords(value) }))}
        />
      )}
      {often === 'monthly' && (
        <TextField
          label={t('day')}
          hint={t('dayHint')}
          type="number"
          min={1}
          max={31}
          inputmode="numeric"
          value={day}
          onValue={(value) => change({ day: value })}
          error={fault === 'day' && (isTried || day !== '') ? t('dayWrong') : undefined}
        />
      )}
      {hasTime && (
        <TextField
          label={t('time')}
          {...{ type: 'time' as 'text' }}
          value={time}
          required
          onValue={(value) => change({ time: value })}
          error={fault === 'time' && isTried ? t('timeMissing') : undefined}
        />
      )}
      {often === 'hourly' && (
        <Select
          label={t('minute')}
          value={time.slice(3) || '00'}
          onValue={(value) => change({ time: `00:${value}` })}
          options={MINUTES.map((value) => ({ value, label: value }))}
        />
      )}
      {often === 'cron' && (
        <TextField
          label={t('cron')}
          hint={t('cronHint')}
          value={cron}
          onValue={(value) => change({ cron: value })}
          autocomplete="off"
          spellcheck={false}
          error={cronError}
        />
      )}
      <Select
        label={t('zone')}
        value={zone}
        onValue={onZone}
        options={zonesWith(zone).map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
      />
    </div>
  );
}

/** All time zones that the browser knows, with UTC, which it leaves out, and the one that is chosen. */
const zonesWith = (zone: string): readonly string[] =>
  [...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])].toSorted();
