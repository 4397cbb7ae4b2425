import type { Client } from '../../api/client.ts';
import type { Permission } from '../../api/operations.generated.ts';
import type { Entry } from '../files/entry.ts';
import type { Level } from './access-rows.ts';

type To = { readonly user_id: string } | { readonly group_id: string };
export interface GrantTerms {
  readonly permission_level?: Level;
  readonly expires_at?: string | null;
}

const LIMIT = 200;

/** The grants on a file or folder: files and folders have operations of the same form. */
export function grantsOf(client: Client, { type, id }: Pick<Entry, 'type' | 'id'>) {
  const isFile = type === 'file';
  const give = (to: To, permission_level: Level, expires_at: string | null = null): Promise<Permission> => {
    const options = { path: { id }, body: { ...to, permission_level, ...(expires_at === null ? {} : { expires_at }) } };
    return isFile ? client.post('/files/{id}/permissions', options) : client.post('/folders/{id}/permissions', options);
  };
  return {
    list: (cursor: string | undefined, signal: AbortSignal) => {
      const options = { path: { id }, query: { limit: LIMIT, cursor }, signal };
      return isFile ? client.get('/files/{id}/permissions', options) : client.get('/folders/{id}/permissions', options);
    },
    /** Everybody who has access, with the reasons. */
    people: (cursor: string | undefined, signal: AbortSignal) => {
      const options = { path: { id }, query: { limit: LIMIT, cursor }, signal };
      return isFile ? client.get('/files/{id}/access', options) : client.get('/folders/{id}/access', options);
    },
    give: (to: To, level: Level) => give(to, level),
    /** Gives what a grant gave that was taken back. */
    giveAgain: ({ user_id, group_id, permission_level, expires_at }: Permission) =>
      give(user_id === null ? { group_id: group_id ?? '' } : { user_id }, permission_level, expires_at),
    change: (grant: Permission, body: GrantTerms) => {
      const options = { path: { id, permission_id: grant.id }, body, ifMatch: grant.etag };
      return isFile
        ? client.patch('/files/{id}/permissions/{permission_id}', options)
        : client.patch('/folders/{id}/permissions/{permission_id}', options);
    },
    takeBack: (grant: Permission) => {
      const options = { path: { id, permission_id: grant.id }, ifMatch: grant.etag };
      return isFile
        ? client.delete('/files/{id}/permissions/{permission_id}', options)
        : client.delete('/folders/{id}/permissions/{permission_id}', options);
    },
  };
}
