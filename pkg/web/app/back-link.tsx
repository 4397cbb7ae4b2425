import type { ComponentChildren } from 'preact';
import { Icon } from '../design/icon.tsx';
import './back-link.css';

/** Leads from one thing back to the list that it is in. */
export const BackLink = ({ href, children }: { readonly href: string; readonly children: ComponentChildren }) => (
  <a class="back-link" href={href}>
    <Icon name="back" size="s" />
    {children}
  </a>
);
