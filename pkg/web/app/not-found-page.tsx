import { LinkButton } from '../design/button.tsx';
import { t } from '../text/shell.ts';
import { useFirstView } from './shell/first-view.ts';
import { useTitle } from './use-title.ts';
import './plain-page.css';

interface Props {
  /** What there is not. */
  readonly title: string;
  /** Why that may be. */
  readonly text: string;
}

/** In place of what does not exist, with a way on. */
export function NotFound({ title, text }: Props) {
  useFirstView();
  return (
    <div class="plain-page">
      <h1>{title}</h1>
      <p>{text}</p>
      <LinkButton href="/" kind="primary" icon="folder">
        {t('notFound.home')}
      </LinkButton>
    </div>
  );
}

/** An address below one of the app's sections that no route has. */
export function NotFoundPage() {
  useTitle(t('notFound.title'));
  return <NotFound title={t('notFound.title')} text={t('notFound.text')} />;
}
