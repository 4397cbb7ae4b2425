import type { TenantUsage } from '../../../api/operations.generated.ts';
import { Plot } from '../../../design/plot.tsx';
import { inDigits, locale } from '../../../text/language.ts';
import { t } from '../../../text/usage.ts';
import { sizeInWords } from '../../size-in-words.ts';

const MONTHS = 12;
const DAYS = 30;
const DELIVERY_DAYS = 7;
const STEP = 1024;
const NONE = { sent: 0, failed: 0 } as const;
const NO_REQUESTS = { succeeded: 0, refused: 0, failed: 0 } as const;

/** Bytes by month; activity, requests and calls of webhooks by day. Days and months are those of UTC, as the API counts them. */
export function History({ usage }: { readonly usage: TenantUsage }) {
  const now = new Date(usage.counted_at);
  const [year, month, today] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const months = Array.from({ length: MONTHS }, (_, at) => new Date(Date.UTC(year, month - MONTHS + 1 + at)));
  const days = Array.from({ length: DAYS }, (_, at) => new Date(Date.UTC(year, month, today - DAYS + 1 + at)));
  const bytesOf = new Map(usage.months.map((one) => [one.month, one.bytes]));
  const dayOf = new Map(usage.days.map((one) => [one.day, one]));
  const bytes = months.map((one) => bytesOf.get(one.toISOString().slice(0, 7)) ?? 0);
  // The marks of the axis are round numbers of the unit in which the largest is said.
  const unit = STEP ** Math.floor(Math.log(Math.max(1, ...bytes)) / Math.log(STEP));
  const monthName = new Intl.DateTimeFormat(locale(), { month: 'short', year: '2-digit', timeZone: 'UTC' });
  const dayName = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const ofDays = (field: 'people' | 'uploads' | 'sign_ins'): number[] =>
    days.map((one) => dayOf.get(one.toISOString().slice(0, 10))?.[field] ?? 0);
  // After an upgrade the reply may be one that a server of the former release has cached.
  const requests = (usage.requests as TenantUsage['requests'] | undefined) ?? [];
  const requestsOf = new Map(requests.map((one) => [one.day, one]));
  const ofRequests = days.map((one) => requestsOf.get(one.toISOString().slice(0, 10)) ?? NO_REQUESTS);
  const deliveryOf = new Map(usage.deliveries.map((one) => [one.day, one]));
  const ofDeliveries = days.slice(-DELIVERY_DAYS).map((one) => deliveryOf.get(one.toISOString().slice(0, 10)) ?? NONE);
  return (
    <div class="usage-pair">
      <section class="usage-part">
        <Plot
          title={t('byMonth')}
          tableLabel={t('table')}
          kind="bars"
          labels={months.map((one) => monthName.format(one))}
          series={[{ name: t('bytes'), values: bytes.map((one) => one / unit) }]}
          format={(value) => sizeInWords(Math.round(value * unit))}
        />
      </section>
      <section class="usage-part">
        <Plot
          title={t('byDay')}
          tableLabel={t('table')}
          kind="lines"
          labels={days.map((one) => dayName.format(one))}
          series={[
            { name: t('uploads'), values: ofDays('uploads') },
            { name: t('signIns'), values: ofDays('sign_ins') },
            { name: t('activePeople'), values: ofDays('people') },
          ]}
          format={inDigits}
        />
      </section>
      <section class="usage-part usage-wide">
        <Plot
          title={t('byRequest')}
          tableLabel={t('table')}
          kind="bars"
          labels={days.map((one) => dayName.format(one))}
          series={[
            { name: t('answered'), values: ofRequests.map(({ succeeded }) => succeeded) },
            { name: t('refused'), values: ofRequests.map(({ refused }) => refused) },
            { name: t('failed'), values: ofRequests.map(({ failed }) => failed) },
          ]}
          format={inDigits}
        />
      </section>
      {usage.deliveries.length > 0 && (
        <section class="usage-part usage-wide">
          <Plot
            title={t('byDelivery')}
            tableLabel={t('table')}
            kind="bars"
            labels={days.slice(-DELIVERY_DAYS).map((one) => dayName.format(one))}
            series={[
              { name: t('answered'), values: ofDeliveries.map(({ sent, failed }) => sent - failed) },
              { name: t('failed'), values: ofDeliveries.map(({ failed }) => failed) },
            ]}
            format={inDigits}
          />
        </section>
      )}
    </div>
  );
}
