import type { ComponentChildren } from 'preact';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';
import { IconButton } from './icon-button.tsx';
import { TagDot } from './tag-dot.tsx';
import './badge.css';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger' | 'info';

interface BadgeProps {
  readonly tone?: Tone | undefined;
  readonly icon?: IconName | undefined;
  readonly children: ComponentChildren;
}

/** A state in one or two words: "Active", "Failed". The word says it; the colour only helps. */
export const Badge = ({ tone = 'neutral', icon, children }: BadgeProps) => (
  <span class={classes('c-badge', `c-tone-${tone}`)}>
    {icon && <Icon name={icon} size="s" />}
    {children}
  </span>
);

interface TagProps {
  readonly children: string;
  /** `#rrggbb`, shown as a dot beside the word; null: none. */
  readonly colour?: string | null | undefined;
  /** Shows a button that removes the tag, with this label. */
  readonly removeLabel?: string | undefined;
  readonly onRemove?: (() => void) | undefined;
  /** Makes the word a link, to what else has it; `linkHint` says so when pointed at, and is read aloud behind the word. */
  readonly href?: string | undefined;
  readonly linkHint?: string | undefined;
  /** The link is followed. */
  readonly onFollow?: (() => void) | undefined;
}

/** A word that somebody has put on a file. */
export const Tag = ({ children, colour, removeLabel, onRemove, href, linkHint, onFollow }: TagProps) => (
  <span class="c-tag">
    {href !== undefined ? (
      <a class="c-tag-text" href={href} title={linkHint} onClick={onFollow}>
        {colour != null && <TagDot colour={colour} />}
        {children}
      </a>
    ) : (
      <span class="c-tag-text">
        {colour != null && <TagDot colour={colour} />}
        {children}
      </span>
    )}
    {removeLabel !== undefined && <IconButton icon="close" size="s" label={removeLabel} onClick={onRemove} />}
  </span>
);

interface NoticeProps {
  readonly tone?: Tone | undefined;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
}

const SIGNS: Readonly<Record<Tone, IconName>> = {
  neutral: 'info',
  accent: 'info',
  info: 'info',
  success: 'check',
  warning: 'alert',
  danger: 'alert',
};

/** A remark in the page that stays until its reason is gone. A danger is read aloud at once. */
export const Notice = ({ tone = 'info', title, children, actions }: NoticeProps) => (
  <div class={classes('c-notice', `c-tone-${tone}`)} {...(tone === 'danger' ? { role: 'alert' } : {})}>
    <Icon name={SIGNS[tone]} />
    <div class="c-notice-text">
      {title !== undefined && <p class="c-notice-title">{title}</p>}
      {typeof children === 'string' ? <p>{children}</p> : children}
    </div>
    {actions !== undefined && <div class="c-notice-actions">{actions}</div>}
  </div>
);
