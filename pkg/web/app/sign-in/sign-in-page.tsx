import { useEffect } from 'preact/hooks';
import { t } from '../../text/sign-in.ts';
import { forgetEarlyDrops } from '../uploads/early-drops.ts';
import { useFirstView } from '../shell/first-view.ts';
import { useTitle } from '../use-title.ts';
import { SignedOutCard } from './signed-out-card.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Shown at every address while nobody is signed in; afterwards the address shows what it is for. */
export function SignInPage() {
  useTitle(t('title'));
  useFirstView();
  useEffect(() => forgetEarlyDrops, []);
  return (
    <SignedOutCard title={t('title')}>
      <SignInForm />
      <details class="signed-out-help">
        <summary>{t('forgotten')}</summary>
        <p>{t('howToReset')}</p>
      </details>
      <p class="signed-out-note">{t('fromCourse')}</p>
    </SignedOutCard>
  );
}
