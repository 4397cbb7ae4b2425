import { useEffect } from 'preact/hooks';
import type { WebhookStatistics } from '../../../api/operations.generated.ts';
import { Plot } from '../../../design/plot.tsx';
import { inDigits, locale } from '../../../text/language.ts';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** How often a webhook was called, how often that failed, and how fast its receiver answers. Another `turn`: ask again. */
export function Statistics({ id, turn }: { readonly id: string; readonly turn: number }) {
  const client = useClient();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/webhooks/{id}/statistics', { path: { id }, signal }),
    [id],
  );
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn]);
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!value || value.last_7_days.sent === 0) return null;
  const { last_24_hours: day, last_7_days: week } = value;
  return (
    <section class="webhooks-statistics" aria-label={t('lastDay')}>
      <Numbers title={t('lastDay')} counted={day} />
      <Numbers title={t('lastWeek')} counted={week} />
      <div class="webhooks-plot">
        <Calls hours={value.hours} />
      </div>
    </section>
  );
}

function Numbers({ title, counted }: { readonly title: string; readonly counted: WebhookStatistics['last_24_hours'] }) {
  const { sent, failed, p50_ms, p95_ms } = counted;
  return (
    <div class="webhooks-numbers">
      <h2>{title}</h2>
      <dl>
        <div>
          <dt>{t('sent')}</dt>
          <dd>{inDigits(sent)}</dd>
        </div>
        <div>
          <dt>{t('failed')}</dt>
          <dd>{inDigits(failed)}</dd>
        </div>
        <div>
          <dt>{t('half')}</dt>
          <dd>{p50_ms === null ? '–' : milliseconds(p50_ms)}</dd>
        </div>
        <div>
          <dt>{t('most')}</dt>
          <dd>{p95_ms === null ? '–' : milliseconds(p95_ms)}</dd>
        </div>
      </dl>
    </div>
  );
}

/** The hours of the last day, with those in which nothing was sent. */
function Calls({ hours }: Pick<WebhookStatistics, 'hours'>) {
  const known = new Map(hours.map((hour) => [Date.parse(hour.hour), hour]));
  const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const shown = Array.from({ length: HOURS }, (_, at) => last - (HOURS - 1 - at) * HOUR_MS);
  const time = new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit' });
  return (
    <Plot
      title={t('plot')}
      tableLabel={t('table')}
      kind="bars"
      labels={shown.map((hour) => time.format(hour))}
      series={[
        { name: t('series.ok'), values: shown.map((hour) => (known.get(hour)?.sent ?? 0) - (known.get(hour)?.failed ?? 0)) },
        { name: t('series.failed'), values: shown.map((hour) => known.get(hour)?.failed ?? 0) },
      ]}
      format={inDigits}
    />
  );
}

const milliseconds = (ms: number): string =>
  new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: ms < 1_000 ? 'millisecond' : 'second',
    maximumFractionDigits: 1,
  }).format(ms < 1_000 ? ms : ms / 1_000);
