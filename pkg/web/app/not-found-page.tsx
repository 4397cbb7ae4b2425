import { LinkButton } from '../design/button.tsx';
import { t } from '../text/shell.ts';
import { useTitle } from './use-title.ts';
import './plain-page.css';

/** An address below one of the app's sections that no route has. */
export function NotFoundPage() {
  useTitle(t('notFound.title'));
  return (
    <div class="plain-page">
      <h1>{t('notFound.title')}</h1>
      <p>{t('notFound.text')}</p>
      <LinkButton href="/" kind="primary" icon="folder">
        {t('notFound.home')}
      </LinkButton>
    </div>
  );
}
