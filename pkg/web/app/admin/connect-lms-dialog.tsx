import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { DateTime } from '../../design/measures.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/admin.ts';
import { CopyField } from '../copy-field.tsx';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { useSubmit } from '../use-submit.ts';

/** Makes the one-time address of LTI Dynamic Registration, and says where an LMS takes it. */
export function ConnectLmsDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useClient();
  const [name, setName] = useState('');
  const [link, setLink] = useState<{ readonly url: string; readonly expires_at: string }>();
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = name.trim() === '' ? {} : { platform_name: name.trim() };
    setLink(await client.post('/lti/registration-links', { body, idempotencyKey }));
  });
  if (link)
    return (
      <Dialog
        title={t('lms.connect')}
        closeLabel={t('close')}
        onClose={onClose}
        actions={
          <Button kind="primary" onClick={onClose}>
            {t('done')}
          </Button>
        }
      >
        <CopyField label={t('lms.address')} value={link.url} hint={t('lms.once')} />
        <p>{t('lms.where')}</p>
        <ul>
          <li>{t('lms.moodle')}</li>
          <li>{t('lms.canvas')}</li>
          <li>{t('lms.d2l')}</li>
        </ul>
        <p class="admin-quiet">
          {t('lms.ends')} <DateTime value={link.expires_at} isFull />
        </p>
      </Dialog>
    );
  return (
    <Dialog
      title={t('lms.connect')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" icon="link" isBusy={isBusy}>
            {t('lms.make')}
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      <p>{t('lms.text')}</p>
      <TextField
        label={t('lms.name')}
        hint={t('lms.nameHint')}
        value={name}
        onValue={setName}
        autocomplete="off"
        autofocus
        error={problem?.ofField('platform_name')}
      />
    </Dialog>
  );
}
