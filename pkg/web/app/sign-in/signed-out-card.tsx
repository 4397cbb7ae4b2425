import type { ComponentChildren } from 'preact';
import { LANGUAGES, type Language } from '../../text/language.ts';
import { chooseLanguage, language } from '../preferences.ts';
import { useObserved } from '../use-observed.ts';
import { tenantName } from '../use-title.ts';
import './signed-out-card.css';

/** The page around what one does before one is signed in: whose it is, the task, and the languages. */
export function SignedOutCard({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const current = useObserved(language);
  return (
    <div class="signed-out">
      <main class="signed-out-card">
        <p class="signed-out-tenant">{tenantName()}</p>
        <h1>{title}</h1>
        {children}
      </main>
      <footer class="signed-out-languages">
        {(Object.keys(LANGUAGES) as Language[]).map((one) => (
          <button key={one} type="button" lang={one} aria-pressed={one === current} onClick={() => void chooseLanguage(one)}>
            {LANGUAGES[one]}
          </button>
        ))}
      </footer>
    </div>
  );
}
