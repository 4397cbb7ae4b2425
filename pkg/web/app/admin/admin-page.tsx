import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { type Key, t } from '../../text/admin.ts';
import { useMe } from '../services.ts';
import { useTitle } from '../use-title.ts';
import './admin-page.css';

/** The pages of administration, each for those who may see it. */
const PAGES: readonly { readonly href: string; readonly label: Key; readonly permission: string }[] = [
  { href: '/admin/people', label: 'people.title', permission: 'read:users' },
  { href: '/admin/groups', label: 'groups', permission: 'read:groups' },
  { href: '/admin/usage', label: 'usage', permission: 'read:users' },
  { href: '/admin/lms', label: 'lms.title', permission: 'read:registrations' },
  { href: '/admin/webhooks', label: 'webhooks', permission: 'read:webhooks' },
  { href: '/admin/schedules', label: 'schedules', permission: 'read:schedules' },
  { href: '/admin/links', label: 'rules.title', permission: 'read:settings' },
  { href: '/admin/tenant', label: 'tenant', permission: 'read:settings' },
  { href: '/admin/audit', label: 'audit', permission: 'read:audit' },
];

interface Props {
  readonly title: string;
  /** The way back to the list that the page is one thing of. */
  readonly back?: ComponentChildren;
  /** The button of what the page is for. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of administration: its name, the way to the others, and its content. */
export function AdminPage({ title, back, action, children }: Props) {
  useTitle(title);
  const { path } = useLocation();
  const { permissions } = useMe();
  const list = useRef<HTMLUListElement>(null);
  // On a phone the list is wider than the screen.
  useEffect(() => list.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' }), [path]);
  return (
    <div class="admin">
      <nav class="admin-pages" aria-label={t('pages')}>
        <ul ref={list} role="list">
          {PAGES.filter(({ permission }) => permissions.includes(permission)).map(({ href, label }) => (
            <li key={href}>
              <a href={href} {...(isWithin(path, href) ? { 'aria-current': 'page' as const } : {})}>
                {t(label)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div>
        {back}
        <header class="admin-head">
          <h1>{title}</h1>
          {action}
        </header>
      </div>
      {children}
    </div>
  );
}

/** The page of one thing is part of the list that it is in: /admin/groups/7 of /admin/groups. */
const isWithin = (path: string, href: string): boolean => path === href || path.startsWith(`${href}/`);
