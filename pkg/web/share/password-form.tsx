import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { announce } from '../design/live-region.tsx';
import { PasswordField } from '../design/password-field.tsx';
import { useWhenOnline } from '../design/use-when-online.ts';
import { count, t } from '../text/share.ts';
import type { Link, Shared } from './link.ts';
import { ProblemNote } from './problem-note.tsx';

interface Props {
  readonly link: Link;
  readonly typed: string;
  readonly fault: string;
  readonly onOpen: (shared: Shared) => void;
  readonly onDead: (problem: ApiProblem) => void;
}

/** Asks for the password of the link. Nothing of what the link gives is shown before. */
export function PasswordForm({ link, typed, fault, onOpen, onDead }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [password, setPassword] = useState(typed);
  const [error, setError] = useState(fault);
  const [problem, setProblem] = useState<ApiProblem>();
  const [isBusy, setBusy] = useState(false);
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  useWhenOnline(problem, () => setProblem(undefined));

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setProblem(undefined);
    setError(password === '' ? t('passwordMissing') : '');
    if (password === '') return;
    setBusy(true);
    /** The field has the focus already, so a screen reader would not read its new description. */
    const refuse = (text: string): void => {
      setError(text);
      announce(text);
    };
    try {
      onOpen(await link.show(password));
    } catch (failure) {
      const refusal = problemOf(failure);
      setBusy(false);
      form.current?.querySelector('input')?.focus();
      if (refusal.code === 'not_found') onDead(refusal);
      else if (refusal.code === 'share_password_wrong') refuse(t('wrongPassword'));
      else if (refusal.code === 'too_many_attempts')
        refuse(count('tooManyAttempts', Math.max(1, Math.ceil((refusal.retryAfter ?? 0) / 60))));
      else setProblem(refusal);
    }
  };

  return (
    <form ref={form} class="share-form" noValidate onSubmit={(event) => void submit(event)}>
      <p class="share-facts">{t('lockedText')}</p>
      {problem && <ProblemNote problem={problem} />}
      <PasswordField
        label={t('password')}
        name="password"
        autocomplete="off"
        required
        value={password}
        onValue={setPassword}
        showLabel={t('showPassword')}
        hideLabel={t('hidePassword')}
        error={error === '' ? undefined : error}
      />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {t('open')}
      </Button>
    </form>
  );
}
