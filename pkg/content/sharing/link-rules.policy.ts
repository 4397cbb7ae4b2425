import { Problem } from '../../api/problem.ts';
import { DAY_MS } from '../../runtime/time.ts';
import type { LinkPolicy } from '../../settings/link-policy.sql.ts';

/** The rules that a tenant's policy of share links may set; a share link shows those that it breaks. */
export const LINK_RULES = ['disabled', 'password_required', 'max_days', 'folder_uploads'] as const;
export type LinkRule = (typeof LINK_RULES)[number];

/** What the rules look at. */
export interface RuledLink {
  readonly hasPassword: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** A link of a file is for downloads. */
  readonly mode: 'download' | 'upload' | 'both';
}

/** Returns the latest time at which a link may end that was made then; null: it need not end. */
export const latestEnd = ({ maxDays }: LinkPolicy, createdAt: Date): Date | null =>
  maxDays === null ? null : new Date(createdAt.getTime() + maxDays * DAY_MS);

/** Returns the rules that the link breaks. A link that breaks one works for nobody. */
export function brokenRules(policy: LinkPolicy, link: RuledLink): LinkRule[] {
  const latest = latestEnd(policy, link.createdAt);
  const broken: Readonly<Record<LinkRule, boolean>> = {
    disabled: !policy.enabled,
    password_required: policy.passwordRequired && !link.hasPassword,
    max_days: latest !== null && (link.expiresAt === null || link.expiresAt > latest),
    folder_uploads: !policy.folderUploads && link.mode !== 'download',
  };
  return LINK_RULES.filter((rule) => broken[rule]);
}

/**
 * Throws `share_policy` for the first rule that a new or changed link breaks. `excused`: rules that the link broke before and
 * that the change is not about, so that somebody can mend a link step by step, and switch it off.
 */
export function requireLawful(policy: LinkPolicy, link: RuledLink, excused: readonly LinkRule[] = []): void {
  const rule = brokenRules(policy, link).find((each) => !excused.includes(each));
  if (rule !== undefined) throw new Problem('share_policy', refusal(rule, latestEnd(policy, link.createdAt)));
}

function refusal(rule: LinkRule, latest: Date | null): string {
  switch (rule) {
    case 'disabled':
      return 'disabled: share links are switched off here; share with people or groups, or ask an administrator.';
    case 'password_required':
      return 'password_required: a share link needs a password here; send `password`.';
    case 'max_days':
      return (
        `max_days: this share link must end by ${latest?.toISOString() ?? ''}; send such an \`expires_at\`, or make a ` +
        'new link.'
      );
    case 'folder_uploads':
      return 'folder_uploads: share links take no uploads here; send the mode `download`.';
  }
}
