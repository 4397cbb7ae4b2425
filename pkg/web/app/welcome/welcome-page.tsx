import { useState } from 'preact/hooks';
import { Badge } from '../../design/badge.tsx';
import { Button, LinkButton } from '../../design/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { type Key, t } from '../../text/welcome.ts';
import { useClient, useMe } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { useLater } from '../use-later.ts';
import { useTitle } from '../use-title.ts';
import './welcome-page.css';

interface Step {
  readonly icon: IconName;
  readonly title: Key;
  readonly text: Key;
  /** The page where it is done; without one `open` shows a dialog. */
  readonly href?: string;
  readonly open?: () => void;
  readonly isDone: boolean;
}

/** The welcome at an address of its own: it can be looked at again. */
export const WelcomePage = () => <Welcome />;

/** What the first administrator of a tenant does next. `onLeave`: it stands in the place of the files. */
export function Welcome({ onLeave }: { readonly onLeave?: () => void }) {
  useTitle(t('title'));
  const client = useClient();
  const { tenant, features, quota, permissions } = useMe();
  const mayRead = permissions.includes('read:users');
  const { value: people } = useLoaded(
    async (signal) => (mayRead ? client.get('/users', { query: { limit: 2 }, signal }) : undefined),
    [mayRead],
  );
  const [PasswordDialog, loadPassword] = useLater(async () => (await import('../shell/password-dialog.tsx')).PasswordDialog);
  const [isChanging, setChanging] = useState(false);
  const changePassword = async (): Promise<void> => setChanging(await loadPassword());
  const steps: readonly Step[] = [
    { icon: 'people', title: 'people', text: 'people.text', href: '/admin/people', isDone: (people?.data.length ?? 0) > 1 },
    { icon: 'key', title: 'password', text: 'password.text', open: () => void changePassword(), isDone: false },
    { icon: 'course', title: 'lms', text: 'lms.text', href: '/admin/lms', isDone: features.lti },
    { icon: 'link', title: 'rules', text: 'rules.text', href: '/admin/links', isDone: false },
    { icon: 'settings', title: 'limits', text: 'limits.text', href: '/admin/tenant', isDone: false },
    { icon: 'recent', title: 'schedules', text: 'schedules.text', href: '/admin/schedules', isDone: false },
    { icon: 'upload', title: 'files', text: 'files.text', href: '/files', isDone: quota.used > 0 },
  ];
  return (
    <div class="welcome">
      <header>
        <h1>{t('heading', { tenant: tenant.display_name })}</h1>
        <p>{t('text')}</p>
      </header>
      <ol role="list" class="welcome-steps">
        {steps.map(({ icon, title, text, href, open, isDone }) => (
          <li key={title} class="welcome-step">
            <span class="welcome-sign">
              <Icon name={icon} size="l" />
            </span>
            <div class="welcome-step-text">
              <h2>
                {href === undefined ? (
                  <button type="button" onClick={open}>
                    {t(title)}
                  </button>
                ) : (
                  <a href={href}>{t(title)}</a>
                )}
              </h2>
              <p>{t(text)}</p>
              {isDone && (
                <Badge tone="success" icon="check">
                  {t('done')}
                </Badge>
              )}
            </div>
          </li>
        ))}
      </ol>
      {onLeave ? (
        <Button kind="primary" onClick={onLeave}>
          {t('leave')}
        </Button>
      ) : (
        <LinkButton href="/files" kind="primary">
          {t('leave')}
        </LinkButton>
      )}
      {isChanging && PasswordDialog && <PasswordDialog onClose={() => setChanging(false)} />}
    </div>
  );
}
