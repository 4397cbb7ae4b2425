import { locale } from '../../../text/language.ts';
import { t } from '../../../text/schedules.ts';

interface Props {
  /** ISO 8601. */
  readonly times: readonly string[];
  readonly zone: string;
  /** The level of its heading: on the page of a schedule, or in a dialog. */
  readonly heading: 'h2' | 'h3';
}

/** The next runs with their days in words, in the time zone of the schedule, and in one's own where that is another. */
export function NextRuns({ times, zone, heading: Heading }: Props) {
  const there = new Intl.DateTimeFormat(locale(), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  });
  const here = new Intl.DateTimeFormat(locale(), { weekday: 'short', hour: '2-digit', minute: '2-digit' });
  const isElsewhere = times.some((time) => timeIn(zone, time) !== timeIn(undefined, time));
  return (
    <section class="schedules-upcoming" aria-label={t('upcoming')}>
      <Heading>{t('upcoming')}</Heading>
      <p class="admin-quiet">{t('upcomingZone', { zone })}</p>
      <ol>
        {times.map((time) => (
          <li key={time}>
            <time dateTime={time}>{there.format(new Date(time))}</time>
            {isElsewhere && <span class="admin-quiet"> ({t('yourTime', { time: here.format(new Date(time)) })})</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Without a zone: in that of the browser. */
const timeIn = (zone: string | undefined, time: string): string =>
  new Intl.DateTimeFormat('en', {
    dateStyle: 'short',
    timeStyle: 'short',
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(new Date(time));
