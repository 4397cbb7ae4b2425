import { EARLIER, LATER, type Rows, uuid } from './row-values.ts';

/** Share links and what was sent by them; in their place among the tenant's tables. */
export const ROWS_OF_SHARES: Rows = {
  shares: [
    {
      uuid: uuid(60),
      token: 'e'.repeat(64),
      file_id: 1,
      created_by: 2,
      password_hash: 'hash',
      expires_at: LATER,
      max_downloads: 3,
      download_count: 1,
    },
    {
      uuid: uuid(61),
      token: 'f'.repeat(64),
      folder_id: 1,
      mode: 'both',
      created_by: 2,
      upload_hour: EARLIER,
      uploads_in_hour: 2,
    },
  ],
  share_uploads: [{ share_id: 2, session: uuid(62), name: 'sent', size: 5 }],
};
