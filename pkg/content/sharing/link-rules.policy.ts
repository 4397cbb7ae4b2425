import { Problem } from '../../api/problem.ts';
import { DAY_MS } from '../../runtime/time.ts';
import type { LinkPolicy } from '../../settings/link-policy.sql.ts';

/** The rules that a tenant's policy may set for share links. A share link shows the rules that it breaks. */
export const LINK_RULES = ['disabled', 'password_required', 'max_days', 'folder_uploads'] as const;
export type LinkRule = (typeof LINK_RULES)[number];

/** The fields of a link that the rules check. */
export interface RuledLink {
  /** null: it has no password. */
  readonly passwordHash: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** A link of a file is for downloads. */
  readonly mode: 'download' | 'upload' | 'both';
}

/** Returns the latest end of a link that was made at `createdAt`; null if it need not end. */
export const latestEnd = ({ maxDays }: LinkPolicy, createdAt: Date): Date | null =>
  maxDays === null ? null : new Date(createdAt.getTime() + maxDays * DAY_MS);

/** Returns the rules that the link breaks. A link that breaks any rule works for nobody. */
export function brokenRules(policy: LinkPolicy, link: RuledLink): LinkRule[] {
  const latest = latestEnd(policy, link.createdAt);
  const broken: Readonly<Record<LinkRule, boolean>> = {
    disabled: !policy.enabled,
    password_required: policy.passwordRequired && link.passwordHash === null,
    max_days: latest !== null && (link.expiresAt === null || link.expiresAt > latest),
    folder_uploads: !policy.folderUploads && link.mode !== 'download',
  };
  return LINK_RULES.filter((rule) => broken[rule]);
}

/** Throws `share_policy` for the first rule that a new link breaks. */
export const requireLawful = (policy: LinkPolicy, link: RuledLink): void => refuse(policy, link, brokenRules(policy, link));

/** The fields of a change that the rules check. */
interface Terms {
  readonly password?: unknown;
  readonly expires_at?: unknown;
}

/**
 * Throws `share_policy` for the first rule that a change breaks. A rule counts if the link did not break it before, or if the
 * change sets the field that the rule checks. This allows people to correct an older link step by step, and to switch it off.
 */
export function requireLawfulChange(policy: LinkPolicy, before: RuledLink, after: RuledLink, changes: Terms): void {
  const former = brokenRules(policy, before);
  const isAbout = (rule: LinkRule): boolean =>
    (rule === 'password_required' && changes.password !== undefined) || (rule === 'max_days' && changes.expires_at !== undefined);
  refuse(
    policy,
    after,
    brokenRules(policy, after).filter((rule) => !former.includes(rule) || isAbout(rule)),
  );
}

function refuse(policy: LinkPolicy, link: RuledLink, [rule]: readonly LinkRule[]): void {
  if (rule !== undefined) throw new Problem('share_policy', refusal(rule, latestEnd(policy, link.createdAt)));
}

function refusal(rule: LinkRule, latest: Date | null): string {
  switch (rule) {
    case 'disabled':
      return 'disabled: share links are switched off here; share with people or groups instead, or ask an administrator.';
    case 'password_required':
      return 'password_required: a share link needs a password here; send `password`.';
    case 'max_days':
      return (
        `max_days: this share link must end by ${latest?.toISOString() ?? ''}; set \`expires_at\` to that time or ` +
        'earlier, or make a new link.'
      );
    case 'folder_uploads':
      return 'folder_uploads: share links do not allow uploads here; send the mode `download`.';
  }
}
