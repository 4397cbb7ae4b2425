import { useEffect, useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { PasswordField } from '../../design/password-field.tsx';
import { t as shell } from '../../text/shell.ts';
import { t } from '../../text/sign-in.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useServices } from '../services.ts';

const PAUSE_MS = 1_000;
const LOOK_MS = 200;
let typedAt = 0;
addEventListener('input', () => (typedAt = performance.now()), true);

/**
 * Over the page of a session that has ended. What the page holds stays, and its requests go on after the sign-in. It waits until
 * nobody types: what was meant for the page would end up in the password.
 */
export function EndedDialog(props: { readonly user: User }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => performance.now() - typedAt > PAUSE_MS && setShown(true), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return isShown && <SignInAgain {...props} />;
}

function SignInAgain({ user }: { readonly user: User }) {
  const { session } = useServices();
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();

  const submit = async (): Promise<void> => {
    setTried(true);
    if (password === '' || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await session.signIn(user.email, password);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={shell('ended.title')}
      closeLabel={shell('close')}
      size="s"
      isHeld
      onClose={() => undefined}
      onSubmit={() => void submit()}
      actions={
        <>
          <Button kind="quiet" onClick={() => session.leave()}>
            {shell('ended.leave')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {shell('ended.signIn')}
          </Button>
        </>
      }
    >
      <p>{shell('ended.text')}</p>
      {problem && <ProblemNote problem={problem} />}
      <p>
        <strong>{user.email}</strong>
      </p>
      {/* A password manager finds the password by it. */}
      <input class="c-hidden" type="email" autocomplete="username" value={user.email} readOnly tabIndex={-1} aria-hidden="true" />
      <PasswordField
        label={t('password')}
        name="password"
        autocomplete="current-password"
        autofocus
        required
        value={password}
        onValue={setPassword}
        showLabel={t('show')}
        hideLabel={t('hide')}
        error={isTried && password === '' ? t('passwordMissing') : undefined}
      />
    </Dialog>
  );
}
