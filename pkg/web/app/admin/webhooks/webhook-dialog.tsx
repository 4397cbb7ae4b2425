import { useState } from 'preact/hooks';
import type { Webhook, WebhookWithSecret } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Checkbox } from '../../../design/checkbox.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { NAMED_EVENTS, t } from '../../../text/webhooks.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';

type EventName = Webhook['events'][number];

/** The types demand that all events of the API have a name, and no others. */
const EVENTS: readonly EventName[] = NAMED_EVENTS;

interface Props {
  /** Undefined: a new one. */
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  readonly onMade?: (webhook: WebhookWithSecret) => void;
  readonly onChanged?: (webhook: Webhook) => void;
}

/** Adds a webhook, or changes one. */
export function WebhookDialog({ webhook, onClose, onMade, onChanged }: Props) {
  const client = useClient();
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [events, setEvents] = useState<readonly EventName[]>(webhook?.events ?? ['file.created']);
  const [isTried, setTried] = useState(false);
  const isComplete = url.trim() !== '' && events.length > 0;
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { url: url.trim(), events: [...events], description: description.trim() || null };
    if (!webhook) return onMade?.(await client.post('/webhooks', { body, idempotencyKey }));
    const path = { id: webhook.id };
    onChanged?.(await client.patch('/webhooks/{id}', { path, body, ifMatch: webhook.etag, idempotencyKey }));
  });
  // An address that may not be called is refused as a whole, without a field.
  const ofUrl = problem?.ofField('url') ?? (problem?.code === 'address_refused' ? problem.inWords(problem.message) : undefined);
  const isOfField = ofUrl !== undefined || problem?.ofField('description') !== undefined;
  const label = webhook ? t('save') : t('add');
  return (
    <Dialog
      title={webhook ? t('edit') : t('add')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (isComplete) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {label}
          </Button>
        </>
      }
    >
      {problem && !isOfField && <ProblemNote problem={problem} />}
      <TextField
        label={t('url')}
        type="url"
        autocomplete="off"
        autofocus
        value={url}
        onValue={setUrl}
        hint={webhook && webhook.header_names.length > 0 ? t('headersNote') : t('urlHint')}
        error={isTried && url.trim() === '' ? t('urlMissing') : ofUrl}
      />
      <TextField
        label={t('description')}
        autocomplete="off"
        value={description}
        onValue={setDescription}
        error={problem?.ofField('description')}
      />
      <fieldset class="webhooks-choice">
        <legend class="c-field-label">{t('events')}</legend>
        {EVENTS.map((event) => (
          <Checkbox
            key={event}
            label={t(`event.${event}`)}
            hint={<code>{event}</code>}
            isChecked={events.includes(event)}
            onChange={(isChecked) => setEvents(EVENTS.filter((one) => (one === event ? isChecked : events.includes(one))))}
          />
        ))}
      </fieldset>
      {isTried && events.length === 0 && <p role="alert">{t('eventsMissing')}</p>}
    </Dialog>
  );
}
