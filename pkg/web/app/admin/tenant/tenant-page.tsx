import type { Settings, TenantSettings } from '../../../api/operations.generated.ts';
import { Badge } from '../../../design/badge.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { count, t } from '../../../text/tenant.ts';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { kubectlEdit, kubectlShow } from '../kubectl-line.ts';
import { Kubectl } from '../kubectl.tsx';
import { ManagedNote } from '../managed-note.tsx';
import { PageProblem } from '../page-problem.tsx';
import { Limits } from './limits.tsx';
import { periodOf } from './quantities.ts';
import { changeOf, Group, Setting } from './setting.tsx';
import './tenant.css';

interface Shown {
  readonly tenant: TenantSettings;
}

/** What the Tenant resource sets for the institution, each setting with the line that changes it there. */
export function TenantPage() {
  const client = useClient();
  const { value, problem, reload } = useLoaded(async (signal) => {
    const [tenant, { share_links: links }] = await Promise.all([
      client.get('/settings/tenant', { signal }),
      client.get('/settings', { signal }),
    ]);
    return { tenant, links };
  }, []);
  return (
    <AdminPage title={t('title')}>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton kind="rows" label={t('loading')} />}
      {value && (
        <>
          <ManagedNote kind="tenant" reference={value.tenant.resource}>
            {t('managed')} {value.tenant.resource !== null && t('managedHow')}
          </ManagedNote>
          <Names tenant={value.tenant} />
          <Limits tenant={value.tenant} />
          <Retention tenant={value.tenant} />
          <Helpers tenant={value.tenant} />
          <LinkRules {...value} />
          {value.tenant.resource !== null && (
            <div>
              <p class="admin-quiet">{t('rest')}</p>
              <Kubectl line={kubectlShow('tenant', value.tenant.resource)} />
            </div>
          )}
        </>
      )}
    </AdminPage>
  );
}

function Names({ tenant }: Shown) {
  const { slug, display_name: name, administrators, addresses } = tenant;
  const hosts = { app: new URL(addresses.app).hostname, lti: new URL(addresses.lti).hostname };
  const host = (of: 'app' | 'lti') => changeOf(tenant, hosts[of], (value) => ({ hosts: { [of]: value } }));
  const email = administrators.at(-1) ?? null;
  return (
    <Group id="tenant-names" title={t('names')}>
      <dl class="tenant-settings">
        <Setting label={t('name')} change={changeOf(tenant, name, (displayName) => ({ displayName }), slug)}>
          {name ?? t('nameNone')}
        </Setting>
        <Setting label={t('slug')} note={t('slugText')}>
          {slug}
        </Setting>
        <Setting label={t('app')} change={host('app')} effect={t('hostText')}>
          {addresses.app}
        </Setting>
        <Setting label={t('lti')} change={host('lti')} effect={t('hostText')}>
          {addresses.lti}
        </Setting>
        <Setting label={t('api')}>{addresses.api}</Setting>
        <Setting
          label={t('admin')}
          change={changeOf(tenant, email, (value) => ({ admin: { email: value } }), `admin@${hosts.app}`)}
          effect={t('adminText')}
        >
          {administrators.join(', ') || t('adminNone')}
        </Setting>
      </dl>
    </Group>
  );
}

function Retention({ tenant }: Shown) {
  const { trash_seconds: trash, versions_keep: keep, versions_days: days } = tenant.retention;
  const { number, unit } = periodOf(trash);
  return (
    <Group id="tenant-kept" title={t('kept')}>
      <dl class="tenant-settings">
        <Setting
          label={t('trash')}
          note={t('trashText')}
          change={changeOf(tenant, `${number}${unit}`, (trashRetention) => ({ trashRetention }))}
        >
          {unit === 'd' ? count('days', number) : count('hours', number)}
        </Setting>
        <Setting label={t('versions')} change={changeOf(tenant, keep, (value) => ({ versions: { keep: value } }))}>
          {count('newest', keep)}
        </Setting>
        <Setting label={t('age')} change={changeOf(tenant, days, (value) => ({ versions: { days: value } }), 365)}>
          {days === null ? t('ageNone') : count('ageDays', days)}
        </Setting>
        <Setting label={t('audit')} note={t('auditText')}>
          {count('days', 365)}
        </Setting>
      </dl>
    </Group>
  );
}

const HELPER_FIELDS = ['translateUrl', 'pdfOptimizeUrl', 'pdfTranslateUrl'].join(', ');

function Helpers({ tenant: { helpers, resource } }: Shown) {
  return (
    <Group id="tenant-helpers" title={t('helpers')}>
      <dl class="tenant-settings">
        <Setting label={t('translate')}>
          <IsOn isOn={helpers.translate} />
        </Setting>
        <Setting label={t('pdfTranslate')}>
          <IsOn isOn={helpers.pdf_translate} />
        </Setting>
        <Setting label={t('pdfOptimize')}>
          <IsOn isOn={helpers.pdf_optimize} />
        </Setting>
      </dl>
      {resource !== null && (
        <div>
          <p>{t('helpersText', { fields: HELPER_FIELDS })}</p>
          <Kubectl line={kubectlEdit('tenant', resource)} />
        </div>
      )}
    </Group>
  );
}

const IsOn = ({ isOn }: { readonly isOn: boolean }) => (
  <Badge tone={isOn ? 'success' : 'neutral'}>{t(isOn ? 'on' : 'off')}</Badge>
);

/** The rules of links where the resource sets them; else where administrators do. */
function LinkRules({ tenant, links }: Shown & { readonly links: Settings['share_links'] }) {
  const { enabled, password_required: password, max_days: days, folder_uploads: uploads, managed_by } = links;
  const yesNo = (isSo: boolean): string => t(isSo ? 'yes' : 'no');
  const rule = (field: string, present: boolean) => changeOf(tenant, present, (value) => ({ shareLinks: { [field]: value } }));
  return (
    <Group id="tenant-links" title={t('links')}>
      {managed_by === null ? (
        <p>
          {t('linksOwn')} <a href="/admin/links">{t('linksPage')}</a>
        </p>
      ) : (
        <dl class="tenant-settings">
          <Setting label={t('linksEnabled')} change={rule('enabled', enabled)}>
            {yesNo(enabled)}
          </Setting>
          <Setting label={t('linksPassword')} change={rule('passwordRequired', password)}>
            {yesNo(password)}
          </Setting>
          <Setting label={t('linksUploads')} change={rule('folderUploads', uploads)}>
            {yesNo(uploads)}
          </Setting>
          <Setting label={t('linksEnd')} change={changeOf(tenant, days, (maxDays) => ({ shareLinks: { maxDays } }), 365)}>
            {days === null ? t('linksEndNone') : count('days', days)}
          </Setting>
        </dl>
      )}
    </Group>
  );
}
