import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { type Key, t } from '../../text/admin.ts';
import { useMe } from '../services.ts';
import { useTitle } from '../use-title.ts';
import './admin-page.css';

/** The pages of administration, each for those who may see it. */
const PAGES: readonly { readonly href: string; readonly label: Key; readonly permission: string }[] = [
  { href: '/admin/people', label: 'people.title', permission: 'read:users' },
  { href: '/admin/lms', label: 'lms.title', permission: 'read:registrations' },
  { href: '/admin/links', label: 'rules.title', permission: 'write:users' },
  { href: '/admin/webhooks', label: 'webhooks', permission: 'read:webhooks' },
  { href: '/admin/schedules', label: 'schedules', permission: 'read:schedules' },
];

interface Props {
  readonly title: string;
  /** The button of what the page is for. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of administration: its name, the way to the others, and its content. */
export function AdminPage({ title, action, children }: Props) {
  useTitle(title);
  const { path } = useLocation();
  const { permissions } = useMe();
  return (
    <div class="admin">
      <nav class="admin-pages" aria-label={t('pages')}>
        <ul role="list">
          {PAGES.filter(({ permission }) => permissions.includes(permission)).map(({ href, label }) => (
            <li key={href}>
              <a href={href} {...(href === path ? { 'aria-current': 'page' as const } : {})}>
                {t(label)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <header class="admin-head">
        <h1>{title}</h1>
        {action}
      </header>
      {children}
    </div>
  );
}
