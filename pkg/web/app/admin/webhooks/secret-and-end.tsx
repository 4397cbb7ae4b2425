import { useState } from 'preact/hooks';
import type { Webhook } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { RadioGroup } from '../../../design/checkbox.tsx';
import { Confirm } from '../../../design/confirm.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';

const OVERLAPS = ['24', '1', '0'] as const;

interface RotateProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onRotated: (secret: string) => void;
}

/** Makes a new secret; how long the former one also signs depends on whether it has leaked. */
export function RotateDialog({ webhook, onClose, onRotated }: RotateProps) {
  const client = useClient();
  const [hours, setHours] = useState<(typeof OVERLAPS)[number]>('24');
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { overlap_hours: Number(hours) };
    const { secret } = await client.post('/webhooks/{id}/secret', {
      path: { id: webhook.id },
      body,
      ifMatch: webhook.etag,
      idempotencyKey,
    });
    onRotated(secret);
  });
  return (
    <Dialog
      title={t('rotateTitle')}
      closeLabel={t('cancel')}
      size="s"
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('rotateDo')}
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      <p>{t('rotateText')}</p>
      <RadioGroup
        legend={t('overlap')}
        value={hours}
        onValue={setHours}
        options={OVERLAPS.map((value) => ({ value, label: t(`overlap.${value}`) }))}
      />
    </Dialog>
  );
}

interface RemoveProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function RemoveDialog({ webhook, onClose, onRemoved }: RemoveProps) {
  const client = useClient();
  const [problem, setProblem] = useState<ApiProblem>();
  const remove = async (): Promise<void> => {
    setProblem(undefined);
    try {
      await client.delete('/webhooks/{id}', { path: { id: webhook.id }, ifMatch: webhook.etag });
      onRemoved();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Confirm
      title={t('removeTitle')}
      confirmLabel={t('removeDo')}
      cancelLabel={t('cancel')}
      isDanger
      onConfirm={remove}
      onCancel={onClose}
    >
      <p>{t('removeText')}</p>
      {problem && <ProblemNote problem={problem} />}
    </Confirm>
  );
}
