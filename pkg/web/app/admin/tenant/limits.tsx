import type { TenantSettings } from '../../../api/operations.generated.ts';
import { Badge } from '../../../design/badge.tsx';
import { FileSize } from '../../../design/measures.tsx';
import { Progress } from '../../../design/progress.tsx';
import { inDigits } from '../../../text/language.ts';
import { t } from '../../../text/tenant.ts';
import { useMe } from '../../services.ts';
import { sizeInWords } from '../../size-in-words.ts';
import { changeOf, Group, Setting } from './setting.tsx';
import { quantityOf } from './quantities.ts';

/** How much there may be of everything, and how much there is. */
export function Limits({ tenant }: { readonly tenant: TenantSettings }) {
  const { limits: largest } = useMe();
  const { storage, files, database, default_user_quota: quota, max_upload_size: upload } = tenant.limits;
  const size = (part: 'limits' | 'storage', field: string, bytes: number | null, example: string) =>
    changeOf(tenant, bytes === null ? null : quantityOf(bytes), (value) => ({ [part]: { [field]: value } }), example);
  return (
    <Group id="tenant-limits" title={t('limits')}>
      <dl class="tenant-settings">
        <Setting label={t('storage')} change={size('limits', 'storage', storage.limit, '100Gi')}>
          <Bounded {...storage} inWords={sizeInWords} />
        </Setting>
        <Setting
          label={t('files')}
          note={t('filesText')}
          change={changeOf(tenant, files.limit, (value) => ({ limits: { files: value } }), 1_000_000)}
        >
          <Bounded {...files} inWords={inDigits} />
        </Setting>
        <Setting label={t('database')} note={t('databaseText')} change={size('limits', 'database', database.limit, '50Gi')}>
          {database.limit === null ? <FileSize bytes={database.used} /> : <Bounded {...database} inWords={sizeInWords} />}
        </Setting>
        <Setting label={t('quota')} change={size('storage', 'defaultUserQuota', quota, '10Gi')} effect={t('quotaText')}>
          {quota === null ? '–' : <FileSize bytes={quota} />}
        </Setting>
        <Setting label={t('upload')} change={size('storage', 'maxUploadSize', upload, '5Gi')}>
          <FileSize bytes={upload ?? largest.max_upload_size} />
        </Setting>
        <Requests tenant={tenant} />
      </dl>
    </Group>
  );
}

function Requests({ tenant }: { readonly tenant: TenantSettings }) {
  const { per_user_per_minute, per_tenant_per_minute, per_address_per_hour } = tenant.limits.requests;
  const change = (field: string, value: number) => changeOf(tenant, value, (number) => ({ limits: { [field]: number } }));
  return (
    <>
      <Setting label={t('perUser')} change={change('requestsPerUserPerMinute', per_user_per_minute)}>
        {t('perMinute', { count: per_user_per_minute })}
      </Setting>
      <Setting label={t('perTenant')} change={change('requestsPerTenantPerMinute', per_tenant_per_minute)}>
        {t('perMinute', { count: per_tenant_per_minute })}
      </Setting>
      <Setting label={t('perAddress')} change={change('requestsPerIpPerHour', per_address_per_hour)}>
        {t('perHour', { count: per_address_per_hour })}
      </Setting>
    </>
  );
}

interface BoundedProps {
  readonly used: number;
  /** null: none. */
  readonly limit: number | null;
  readonly inWords: (number: number) => string;
}

/** What is used of a limit, in words and as a bar. */
function Bounded({ used, limit, inWords }: BoundedProps) {
  if (limit === null) return <p>{t('unlimited', { used: inWords(used) })}</p>;
  const isReached = used >= limit;
  return (
    <>
      <p class="tenant-used">
        {t('used', { used: inWords(used), limit: inWords(limit) })}
        {isReached && <Badge tone="danger">{t('reached')}</Badge>}
      </p>
      <Progress value={isReached ? 1 : used / limit} tone={isReached ? 'danger' : 'accent'} />
    </>
  );
}
