import type { TenantUsage } from '../../../api/operations.generated.ts';
import { type FileKind, fileKind } from '../../../design/file-kind.ts';
import { DateTime, FileSize } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { inDigits, locale } from '../../../text/language.ts';
import { count, t } from '../../../text/usage.ts';
import { useClient } from '../../services.ts';
import { sizeInWords } from '../../size-in-words.ts';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { PageProblem } from '../page-problem.tsx';
import { BarTable } from './bar-table.tsx';
import { History } from './history.tsx';
import './usage.css';

/** What fills the storage of the tenant: whose it is, of which type, since when; and how much is going on. */
export function UsagePage() {
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/usage', { signal }), []);
  return (
    <AdminPage title={t('title')}>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton kind="rows" label={t('loading')} />}
      {value && <Content usage={value} />}
    </AdminPage>
  );
}

function Content({ usage }: { readonly usage: TenantUsage }) {
  const peak = Math.max(0, ...usage.days.map(({ people }) => people));
  return (
    <>
      <dl class="usage-sums">
        <Sum label={t('stored')} value={sizeInWords(usage.storage_used)} />
        <Sum label={t('files')} value={inDigits(usage.files)} />
        <Sum label={t('people')} value={inDigits(usage.people)} />
        <Sum label={t('active')} value={inDigits(peak)} />
      </dl>
      <Parts usage={usage} />
      <div class="usage-pair">
        <People usage={usage} />
        <Types usage={usage} />
      </div>
      <History usage={usage} />
      <p class="admin-quiet">
        {t('counted')} <DateTime value={usage.counted_at} />
      </p>
    </>
  );
}

const Sum = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <div class="usage-sum">
    <dt>{label}</dt>
    <dd>{value}</dd>
  </div>
);

/** The bytes of current versions are all that is not counted elsewhere. */
const currentOf = ({ storage_used, versions_bytes, trash_bytes, metadata_bytes }: TenantUsage): number =>
  Math.max(0, storage_used - versions_bytes - trash_bytes - metadata_bytes);

function Parts({ usage }: { readonly usage: TenantUsage }) {
  const parts = [
    { label: t('current'), bytes: currentOf(usage) },
    { label: t('versions'), bytes: usage.versions_bytes },
    { label: t('trash'), bytes: usage.trash_bytes },
    { label: t('metadata'), bytes: usage.metadata_bytes },
  ];
  return (
    <section class="usage-part" aria-labelledby="usage-parts">
      <h2 id="usage-parts">{t('parts')}</h2>
      <div class="usage-bar" aria-hidden="true">
        {parts.map(
          ({ label, bytes }, index) =>
            bytes > 0 && (
              <span
                key={label}
                class={`usage-piece c-series-${index + 1}`}
                style={{ inlineSize: `${(100 * bytes) / Math.max(usage.storage_used, 1)}%` }}
              />
            ),
        )}
      </div>
      <dl class="usage-legend">
        {parts.map(({ label, bytes }, index) => (
          <div key={label} class={`c-series-${index + 1}`}>
            <dt>{label}</dt>
            <dd>
              <FileSize bytes={bytes} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function People({ usage }: { readonly usage: TenantUsage }) {
  const { largest_users: largest, storage_used: all } = usage;
  const rest = all - largest.reduce((sum, { storage_used }) => sum + storage_used, 0);
  const rows = largest.map(({ user, storage_used, storage_quota }) => ({
    key: user.id,
    label: user.name,
    href: `/admin/people/${user.id}`,
    value: storage_used,
    more: storage_quota === 0 ? '–' : new Intl.NumberFormat(locale(), { style: 'percent' }).format(storage_used / storage_quota),
  }));
  const others = rest > 0 ? [{ key: 'others', label: t('others'), value: rest, more: '' }] : [];
  return (
    <section class="usage-part" aria-labelledby="usage-people">
      <h2 id="usage-people">{t('byPerson')}</h2>
      {largest.length === 0 ? (
        <p>{t('nothing')}</p>
      ) : (
        <BarTable
          labelledBy="usage-people"
          series={1}
          heads={[t('person'), t('bytes'), t('ofQuota')]}
          rows={[...rows, ...others]}
          format={sizeInWords}
        />
      )}
    </section>
  );
}

function Types({ usage }: { readonly usage: TenantUsage }) {
  const kinds = new Map<FileKind, { bytes: number; files: number }>();
  const add = (kind: FileKind, bytes: number, files: number): void => {
    const before = kinds.get(kind) ?? { bytes: 0, files: 0 };
    kinds.set(kind, { bytes: before.bytes + bytes, files: before.files + files });
  };
  for (const { mime_type, bytes, files } of usage.types) add(fileKind(mime_type, ''), bytes, files);
  // The rarest types are not in the list.
  const listed = usage.types.reduce((sum, { bytes, files }) => ({ bytes: sum.bytes + bytes, files: sum.files + files }), {
    bytes: 0,
    files: 0,
  });
  if (usage.files > listed.files) add('other', Math.max(0, currentOf(usage) - listed.bytes), usage.files - listed.files);
  const rows = [...kinds]
    .toSorted(([, a], [, b]) => b.bytes - a.bytes)
    .map(([kind, { bytes, files }]) => ({ key: kind, label: t(`kind.${kind}`), value: bytes, more: count('count', files) }));
  return (
    <section class="usage-part" aria-labelledby="usage-types">
      <h2 id="usage-types">{t('byType')}</h2>
      {rows.length === 0 ? (
        <p>{t('nothing')}</p>
      ) : (
        <BarTable
          labelledBy="usage-types"
          series={3}
          heads={[t('type'), t('bytes'), t('files')]}
          rows={rows}
          format={sizeInWords}
        />
      )}
    </section>
  );
}
