import { useRef, useState } from 'preact/hooks';
import type { Settings } from '../../api/operations.generated.ts';
import { Notice } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Checkbox } from '../../design/checkbox.tsx';
import { hasHalfTyped } from '../../design/half-typed.ts';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { toasts } from '../../design/toasts.ts';
import { noteSending } from '../../design/unsent.ts';
import { t } from '../../text/admin.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { Snapshot } from '../snapshot.tsx';
import { useLoaded } from '../use-loaded.ts';
import { AdminPage } from './admin-page.tsx';
import { kubectlEdit } from './kubectl-line.ts';
import { Kubectl } from './kubectl.tsx';
import { PageProblem } from './page-problem.tsx';
import { useSubmit } from '../use-submit.ts';

/** The rules for links by which anybody opens a file. */
export function LinkRulesPage() {
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/settings', { signal }), []);
  return (
    <AdminPage title={t('rules.title')}>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton label={t('loading')} />}
      {value && (
        <Snapshot of={value} load={() => client.get('/settings', {})}>
          {(settings) => <Rules settings={settings} />}
        </Snapshot>
      )}
    </AdminPage>
  );
}

function Rules({ settings }: { readonly settings: Settings }) {
  const client = useClient();
  const form = useRef<HTMLFormElement>(null);
  const { managed_by, ...current } = settings.share_links;
  const [rules, setRules] = useState(current);
  const [days, setDays] = useState(String(current.max_days ?? ''));
  // Of the last reply: what is entered while a change is on its way stays, and is saved by the next one.
  const [ifMatch, setIfMatch] = useState(settings.etag);
  const isManaged = managed_by !== null;
  const { isBusy, problem, submit } = useSubmit(async () => {
    const max_days = days.trim() === '' ? null : Number(days);
    const sent = form.current && noteSending(form.current);
    const { etag } = await client.patch('/settings', { body: { share_links: { ...rules, max_days } }, ifMatch });
    setIfMatch(etag);
    sent?.();
    toasts.show({ text: t('rules.saved'), tone: 'success' });
  });
  const ofDays = problem?.ofField('share_links.max_days');
  return (
    <form
      ref={form}
      class="admin-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasHalfTyped(event.currentTarget)) submit();
      }}
    >
      <p>{t('rules.text')}</p>
      {isManaged && (
        <Notice title={t('rules.managed')}>
          <Kubectl line={kubectlEdit('tenant', settings.tenant_resource)} />
        </Notice>
      )}
      {problem && ofDays === undefined && <ProblemNote problem={problem} />}
      <Checkbox
        label={t('rules.enabled')}
        hint={t('rules.enabledHint')}
        isChecked={rules.enabled}
        disabled={isManaged}
        onChange={(enabled) => setRules({ ...rules, enabled })}
      />
      <Checkbox
        label={t('rules.password')}
        isChecked={rules.password_required}
        disabled={isManaged || !rules.enabled}
        onChange={(password_required) => setRules({ ...rules, password_required })}
      />
      <Checkbox
        label={t('rules.uploads')}
        hint={t('rules.uploadsHint')}
        isChecked={rules.folder_uploads}
        disabled={isManaged || !rules.enabled}
        onChange={(folder_uploads) => setRules({ ...rules, folder_uploads })}
      />
      <TextField
        label={t('rules.days')}
        hint={t('rules.daysHint')}
        type="number"
        min={1}
        inputmode="numeric"
        disabled={isManaged || !rules.enabled}
        value={days}
        onValue={setDays}
        error={ofDays}
      />
      {!isManaged && (
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {t('save')}
        </Button>
      )}
    </form>
  );
}
