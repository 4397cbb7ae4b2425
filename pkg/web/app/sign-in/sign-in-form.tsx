import { useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { PasswordField } from '../../design/password-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/sign-in.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useServices } from '../services.ts';

/** E-mail address and password. Browsers and password managers fill both in. */
export function SignInForm() {
  const { session } = useServices();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (email.trim() === '' || password === '' || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await session.signIn(email.trim(), password);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };

  return (
    <form class="sign-in-form" noValidate onSubmit={(event) => void submit(event)}>
      {problem && <ProblemNote problem={problem} />}
      <TextField
        label={t('email')}
        type="email"
        name="email"
        autocomplete="username"
        autofocus
        required
        value={email}
        onValue={setEmail}
        error={isTried && email.trim() === '' ? t('emailMissing') : undefined}
      />
      <PasswordField
        label={t('password')}
        name="password"
        autocomplete="current-password"
        required
        value={password}
        onValue={setPassword}
        showLabel={t('show')}
        hideLabel={t('hide')}
        error={isTried && password === '' ? t('passwordMissing') : undefined}
      />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {t('submit')}
      </Button>
    </form>
  );
}
