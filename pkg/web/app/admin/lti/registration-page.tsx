import { useRoute } from 'preact-iso';
import type { LtiRegistration } from '../../../api/operations.generated.ts';
import { Notice } from '../../../design/badge.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/registrations.ts';
import { CopyField } from '../../copy-field.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { AdminPage } from '../admin-page.tsx';
import { BackLink } from '../../back-link.tsx';
import { ManagedNote } from '../managed-note.tsx';
import { PageProblem } from '../page-problem.tsx';
import { Deployments } from './deployments.tsx';
import './lti.css';

/** One LMS: which of its deployments may launch, what was agreed, and what has to be entered there. */
export function RegistrationPage() {
  const { id = '' } = useRoute().params;
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/lti/registrations/{id}', { path: { id }, signal }), [id]);
  return (
    <AdminPage
      title={value ? (value.platform_name ?? value.name) : t('title')}
      back={<BackLink href="/admin/lms">{t('back')}</BackLink>}
    >
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton label={t('loading')} />}
      {value && (
        <>
          {value.managed_by !== null && (
            <ManagedNote kind="ltiregistration" reference={value.managed_ref}>
              {t('managedText')}
            </ManagedNote>
          )}
          {!value.is_active && <Notice tone="warning">{t('inactive')}</Notice>}
          {value.is_active && value.registered?.pending && <Notice>{t('pending')}</Notice>}
          <Deployments registration={value} onDecided={reload} />
          <Facts registration={value} />
          <section class="lti-section" aria-labelledby="lti-values">
            <h2 id="lti-values">{t('values')}</h2>
            <p class="admin-quiet">{t('valuesText')}</p>
            <div class="lti-values">
              <CopyField label={t('login')} value={value.login_initiation_url} />
              <CopyField label={t('redirect')} value={value.redirect_uri} />
              <CopyField label={t('launch')} value={value.launch_url} />
              <CopyField label={t('keys')} value={value.jwks_url} />
            </div>
          </section>
        </>
      )}
    </AdminPage>
  );
}

function Facts({ registration }: { readonly registration: LtiRegistration }) {
  const { issuer, client_id, public_key_ids, registered } = registration;
  const missing = registered?.scopes_asked.filter((scope) => !registered.scopes_granted.includes(scope)) ?? [];
  return (
    <section class="lti-section" aria-labelledby="lti-facts">
      <h2 id="lti-facts">{t('facts')}</h2>
      <dl class="lti-facts">
        <dt>{t('issuer')}</dt>
        <dd>{issuer}</dd>
        <dt>{t('client')}</dt>
        <dd>{client_id}</dd>
        <dt>{t('keyIds')}</dt>
        <dd>
          {public_key_ids.map((key) => (
            <code key={key}>{key}</code>
          ))}
        </dd>
        {registered && (
          <>
            <dt>{t('registered')}</dt>
            <dd>
              <DateTime value={registered.at} isFull />
            </dd>
            {registered.product !== null && (
              <>
                <dt>{t('product')}</dt>
                <dd>{registered.product}</dd>
              </>
            )}
            <Words label={t('placements')} words={registered.placements} />
            <Words label={t('granted')} words={registered.scopes_granted.map(shortScope)} />
            <Words label={t('notGranted')} words={missing.map(shortScope)} />
          </>
        )}
      </dl>
    </section>
  );
}

const Words = ({ label, words }: { readonly label: string; readonly words: readonly string[] }) =>
  words.length === 0 ? null : (
    <>
      <dt>{label}</dt>
      <dd class="lti-words">
        {words.map((word) => (
          <code key={word}>{word}</code>
        ))}
      </dd>
    </>
  );

/** What tells the scopes of LTI apart. */
const shortScope = (scope: string): string => scope.replace('https://purl.imsglobal.org/spec/', '');
