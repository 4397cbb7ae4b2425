import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { RadioGroup } from '../../../design/checkbox.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { hasHalfTyped } from '../../../design/half-typed.ts';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';

const WHICH = ['missed', 'delivered'] as const;

/** Delivers the events of some time again, as a job, whose page follows. */
export function ReplayDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const client = useClient();
  const { route } = useLocation();
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [which, setWhich] = useState<(typeof WHICH)[number]>('missed');
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = {
      since: new Date(since).toISOString(),
      ...(until === '' ? {} : { until: new Date(until).toISOString() }),
      ...(which === 'delivered' ? { status: which } : {}),
    };
    const job = await client.post('/webhooks/{id}/replays', { path: { id: webhook.id }, body, idempotencyKey });
    route(`/jobs/${job.id}`);
  });
  const isOfField = problem?.fields.some(({ field }) => field === 'since' || field === 'until') ?? false;
  return (
    <Dialog
      title={t('replayTitle')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={(form) => {
        setTried(true);
        if (since !== '' && !hasHalfTyped(form)) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('replayDo')}
          </Button>
        </>
      }
    >
      {problem && !isOfField && <ProblemNote problem={problem} />}
      <p>{t('replayText')}</p>
      <RadioGroup
        legend={t('which')}
        value={which}
        onValue={setWhich}
        options={WHICH.map((value) => ({ value, label: t(`which.${value}`) }))}
      />
      <TextField
        label={t('since')}
        type="datetime-local"
        value={since}
        onValue={setSince}
        error={isTried && since === '' ? t('sinceMissing') : problem?.ofField('since')}
      />
      <TextField label={t('until')} type="datetime-local" value={until} onValue={setUntil} error={problem?.ofField('until')} />
    </Dialog>
  );
}
