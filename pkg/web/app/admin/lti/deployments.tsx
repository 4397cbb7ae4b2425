import { useState } from 'preact/hooks';
import { newId } from '../../../api/new-id.ts';
import type { LtiDeployment, LtiRegistration } from '../../../api/operations.generated.ts';
import { Badge, type Tone } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { Confirm } from '../../../design/confirm.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Select } from '../../../design/select.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { toasts } from '../../../design/toasts.ts';
import { count, t } from '../../../text/registrations.ts';
import { failureToast } from '../../failure-toast.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient, useMay } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { useSubmit } from '../../use-submit.ts';

type Status = LtiDeployment['status'];
const STATES: readonly Status[] = ['waiting', 'admitted', 'refused', 'listed'];
const TONES: Readonly<Record<Status, Tone>> = { listed: 'success', waiting: 'warning', admitted: 'success', refused: 'neutral' };

interface Props {
  readonly registration: LtiRegistration;
  readonly onDecided: () => void;
}

/** The deployments of an LMS. Those that wait are shown first: an administrator admits or refuses them. */
export function Deployments({ registration, onDecided }: Props) {
  const client = useClient();
  const isConfirmed = registration.deployment_policy === 'Confirm';
  const mayDecide = useMay('write:registrations') && isConfirmed;
  const [status, setStatus] = useState<Status | ''>(registration.waiting_deployments > 0 ? 'waiting' : '');
  const [refusing, setRefusing] = useState<LtiDeployment>();
  const path = { id: registration.id };
  const list = usePages(
    (cursor, signal) =>
      client.get('/lti/registrations/{id}/deployments', {
        path,
        query: { limit: 50, cursor, status: status || undefined },
        signal,
      }),
    [registration.id, status],
  );
  const decide = async (id: string, decision: 'admitted' | 'refused'): Promise<void> => {
    try {
      const decided = await client.post('/lti/registrations/{id}/deployments', {
        path,
        body: { deployment_id: id, status: decision },
        idempotencyKey: newId(),
      });
      list.change((all) => all.map((one) => (one.deployment_id === id ? decided : one)));
      toasts.show({ text: t(decision, { id }), tone: decision === 'admitted' ? 'success' : 'neutral' });
      onDecided();
    } catch (error) {
      failureToast(error);
    }
    setRefusing(undefined);
  };
  return (
    <section class="lti-section" aria-labelledby="lti-deployments">
      <header class="lti-head">
        <h2 id="lti-deployments">{t('deployments')}</h2>
        <Select
          label={t('filter')}
          isLabelHidden
          value={status}
          onValue={setStatus}
          options={[{ value: '', label: t('status.all') }, ...STATES.map((value) => ({ value, label: t(`status.${value}`) }))]}
        />
      </header>
      <p class="admin-quiet">{isConfirmed ? t('confirmText') : t('listedOnly')}</p>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('deploymentsNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="lti-list">
            {list.items.map((deployment) => (
              <Row
                key={deployment.deployment_id}
                deployment={deployment}
                mayDecide={mayDecide}
                onAdmit={() => void decide(deployment.deployment_id, 'admitted')}
                onRefuse={() =>
                  deployment.status === 'admitted' ? setRefusing(deployment) : void decide(deployment.deployment_id, 'refused')
                }
              />
            ))}
          </ul>
        </EndlessList>
      )}
      {mayDecide && (
        <AdmitForm
          registrationId={registration.id}
          onAdmitted={(id) => {
            toasts.show({ text: t('admitted', { id }), tone: 'success' });
            list.reload();
          }}
        />
      )}
      {refusing && (
        <Confirm
          title={t('refuseTitle', { id: refusing.deployment_id })}
          confirmLabel={t('refuse')}
          cancelLabel={t('cancel')}
          isDanger
          onConfirm={() => decide(refusing.deployment_id, 'refused')}
          onCancel={() => setRefusing(undefined)}
        >
          {t('refuseText')}
        </Confirm>
      )}
    </section>
  );
}

interface RowProps {
  readonly deployment: LtiDeployment;
  readonly mayDecide: boolean;
  readonly onAdmit: () => void;
  readonly onRefuse: () => void;
}

function Row({ deployment, mayDecide, onAdmit, onRefuse }: RowProps) {
  const { deployment_id: id, status, may_launch, launches, first_seen_at, last_seen_at } = deployment;
  const isAsked = mayDecide && status !== 'listed';
  return (
    <li class="lti-row">
      <div class="lti-what">
        <p class="lti-id">
          <code>{id}</code> <Badge tone={TONES[status]}>{t(`status.${status}`)}</Badge>
        </p>
        {first_seen_at !== null && (
          <p class="admin-quiet">
            {launches > 0 && `${count('launches', launches)} · `}
            {t('first')} <DateTime value={first_seen_at} />
            {last_seen_at !== null && (
              <>
                , {t('last')} <DateTime value={last_seen_at} />
              </>
            )}
          </p>
        )}
        {status === 'admitted' && !may_launch && <p class="admin-quiet">{t('mayNot')}</p>}
      </div>
      {isAsked && (
        <div class="lti-tools">
          {status !== 'refused' && (
            <Button aria-label={t('refuseOf', { id })} onClick={onRefuse}>
              {t('refuse')}
            </Button>
          )}
          {status !== 'admitted' && (
            <Button
              kind={status === 'waiting' ? 'primary' : 'secondary'}
              icon="check"
              aria-label={t('admitOf', { id })}
              onClick={onAdmit}
            >
              {t('admit')}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** Admits a deployment whose id is known before anybody launches from it. */
function AdmitForm({
  registrationId,
  onAdmitted,
}: {
  readonly registrationId: string;
  readonly onAdmitted: (id: string) => void;
}) {
  const client = useClient();
  const [id, setId] = useState('');
  const [isTried, setTried] = useState(false);
  const wanted = id.trim();
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { deployment_id: wanted, status: 'admitted' as const };
    await client.post('/lti/registrations/{id}/deployments', { path: { id: registrationId }, body, idempotencyKey });
    setId('');
    setTried(false);
    onAdmitted(wanted);
  });
  const ofId = problem?.ofField('deployment_id');
  return (
    <details class="lti-add">
      <summary>{t('add')}</summary>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (wanted !== '') submit();
        }}
      >
        {problem && ofId === undefined && <ProblemNote problem={problem} />}
        <TextField
          label={t('addId')}
          hint={t('addHint')}
          value={id}
          onValue={setId}
          autocomplete="off"
          maxLength={255}
          error={isTried && wanted === '' ? t('addMissing') : ofId}
        />
        <Button type="submit" isBusy={isBusy}>
          {t('admit')}
        </Button>
      </form>
    </details>
  );
}
