import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { PasswordField } from '../../design/password-field.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/password.ts';
import { t as signIn } from '../../text/sign-in.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { SHORTEST } from '../sign-in/reset-page.tsx';
import { useSubmit } from '../use-submit.ts';

/** Changes one's own password. This session goes on, all others end. */
export function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useClient();
  const { user } = useMe();
  const [current, setCurrent] = useState('');
  const [wanted, setWanted] = useState('');
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async () => {
    await client.post('/users/me/password', { body: { current_password: current, new_password: wanted } });
    toasts.show({ text: t('changed'), tone: 'success' });
    onClose();
  });
  const isTooShort = wanted.length < SHORTEST;
  const isWrong = problem?.code === 'invalid_credentials';
  const ofWanted = problem?.ofField('new_password');
  return (
    <Dialog
      title={t('title')}
      closeLabel={t('cancel')}
      size="s"
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (current !== '' && !isTooShort) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('do')}
          </Button>
        </>
      }
    >
      <p>{t('text')}</p>
      {problem && !isWrong && ofWanted === undefined && <ProblemNote problem={problem} />}
      {/* A browser's store of passwords learns from it whose password this is. */}
      <input type="hidden" name="username" autocomplete="username" value={user.email} />
      <PasswordField
        label={t('current')}
        name="current-password"
        autocomplete="current-password"
        autofocus
        required
        value={current}
        onValue={setCurrent}
        showLabel={signIn('show')}
        hideLabel={signIn('hide')}
        error={isWrong ? problem.inWords(t('wrong')) : isTried && current === '' ? t('missing') : undefined}
      />
      <PasswordField
        label={signIn('reset.password')}
        name="new-password"
        autocomplete="new-password"
        required
        value={wanted}
        onValue={setWanted}
        showLabel={signIn('show')}
        hideLabel={signIn('hide')}
        hint={signIn('reset.hint')}
        error={isTried && isTooShort ? signIn('reset.tooShort') : ofWanted}
      />
    </Dialog>
  );
}
