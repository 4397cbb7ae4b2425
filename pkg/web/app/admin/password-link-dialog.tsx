import { useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { DateTime } from '../../design/measures.tsx';
import { t } from '../../text/admin.ts';
import { CopyField } from '../copy-field.tsx';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { nameOf } from './person-name.ts';
import { useSubmit } from '../use-submit.ts';

/** An address at which a person sets a password; shown once. The service sends no mail. */
export function PasswordLinkDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const client = useClient();
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>();
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const { token, expires_at } = await client.post('/users/{id}/password-reset', { path: { id: user.id }, idempotencyKey });
    setLink({ url: `${location.origin}/reset#${token}`, expiresAt: expires_at });
  });
  return (
    <Dialog
      title={t('password.title', { name: nameOf(user) })}
      closeLabel={t('close')}
      onClose={onClose}
      actions={
        link ? (
          <Button kind="primary" onClick={onClose}>
            {t('done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button kind="primary" icon="key" isBusy={isBusy} onClick={submit}>
              {t('password.make')}
            </Button>
          </>
        )
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {link ? (
        <>
          <CopyField label={t('password.link')} value={link.url} hint={t('password.once')} />
          <p class="admin-quiet">
            {t('password.ends')} <DateTime value={link.expiresAt} isFull />
          </p>
        </>
      ) : (
        <p>{t('password.text', { name: nameOf(user) })}</p>
      )}
    </Dialog>
  );
}
