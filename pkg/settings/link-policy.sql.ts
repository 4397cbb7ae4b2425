/** What the tenant demands of every share link. */
export interface LinkPolicy {
  readonly enabled: boolean;
  readonly passwordRequired: boolean;
  /** null: a link need not end. */
  readonly maxDays: number | null;
  readonly folderUploads: boolean;
}

/** The policy until somebody sets another. */
export const DEFAULT_LINK_POLICY: LinkPolicy = { enabled: true, passwordRequired: false, maxDays: null, folderUploads: true };

/** The tenant's LinkPolicy as JSON: an expression for any statement, evaluated once in it. */
export const LINK_POLICY = `coalesce((
  SELECT jsonb_build_object('enabled', p.share_links_enabled, 'passwordRequired', p.share_links_password_required,
    'maxDays', p.share_links_max_days, 'folderUploads', p.share_links_folder_uploads) FROM settings p
), '${JSON.stringify(DEFAULT_LINK_POLICY)}'::jsonb)`;
