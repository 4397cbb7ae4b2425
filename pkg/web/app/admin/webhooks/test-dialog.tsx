import { useState } from 'preact/hooks';
import type { Webhook } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { Select } from '../../../design/select.tsx';
import { t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';

interface Props {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onSent: () => void;
}

/** Sends an event about things that do not exist, to this webhook alone. */
export function TestDialog({ webhook, onClose, onSent }: Props) {
  const client = useClient();
  const [event, setEvent] = useState(webhook.events[0] ?? 'file.created');
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    await client.post('/webhooks/{id}/test', { path: { id: webhook.id }, body: { event }, idempotencyKey });
    onSent();
  });
  return (
    <Dialog
      title={t('testTitle')}
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
            {t('testDo')}
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      <Select
        label={t('testEvent')}
        hint={t('testText')}
        value={event}
        onValue={setEvent}
        options={webhook.events.map((value) => ({ value, label: value }))}
      />
    </Dialog>
  );
}
