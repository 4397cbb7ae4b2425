import { useEffect, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { PasswordField } from '../../design/password-field.tsx';
import { t } from '../../text/sign-in.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useServices } from '../services.ts';
import { useFirstView } from '../shell/first-view.ts';
import { useTitle } from '../use-title.ts';
import { SignedOutCard } from './signed-out-card.tsx';

/** The shortest password that the API accepts. */
export const SHORTEST = 8;

/**
 * Sets a password with the token of an address that an administrator handed out: `/reset#<token>`. What follows `#` reaches no
 * server and no log. The token leaves the address at once, so that the browser's history does not hold it.
 */
export function ResetPage() {
  useTitle(t('reset.title'));
  useFirstView();
  const [token] = useState(() => location.hash.slice(1));
  const [isDone, setDone] = useState(false);
  useEffect(() => history.replaceState(history.state, '', location.pathname), []);

  return (
    <SignedOutCard title={t('reset.title')}>
      {isDone && (
        <>
          <p role="status">{t('reset.done')}</p>
          <LinkButton href="/sign-in" kind="primary">
            {t('reset.toSignIn')}
          </LinkButton>
        </>
      )}
      {!isDone &&
        (token === '' ? <p role="alert">{t('reset.incomplete')}</p> : <ResetForm token={token} onDone={() => setDone(true)} />)}
    </SignedOutCard>
  );
}

function ResetForm({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const { anonymous } = useServices();
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const isTooShort = password.length < SHORTEST;

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (isTooShort || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await anonymous.post('/auth/password-reset', { body: { token, new_password: password } });
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const ofField = problem?.ofField('new_password');

  return (
    <form class="sign-in-form" noValidate onSubmit={(event) => void submit(event)}>
      <p>{t('reset.text')}</p>
      {problem && ofField === undefined && <ProblemNote problem={problem} />}
      <PasswordField
        label={t('reset.password')}
        name="new-password"
        autocomplete="new-password"
        autofocus
        required
        value={password}
        onValue={setPassword}
        showLabel={t('show')}
        hideLabel={t('hide')}
        hint={t('reset.hint')}
        error={isTried && isTooShort ? t('reset.tooShort') : ofField}
      />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {t('reset.submit')}
      </Button>
    </form>
  );
}
