import type { Passwords } from '../../accounts/passwords.ts';
import { LoginThrottle } from '../../accounts/sign-in/login-throttle.ts';
import type { TenantServices } from '../../feature/services.ts';
import type { FolderArchives } from '../archives/folder-archives.service.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { CountedDownloads } from './counted-downloads.ts';
import { FolderLinks } from './folder-links.service.ts';
import { LinkAdmission } from './link-admission.ts';
import { LinkUploads } from './link-uploads.service.ts';
import { ShareDownloads } from './share-downloads.service.ts';
import { SharePasswords } from './share-passwords.ts';
import { ShareCookie, ShareProofs } from './share-proof.ts';
import { ShareSessions } from './share-sessions.ts';

/** Creates the services for people who have a share link. */
export function linkServices(
  services: TenantServices & {
    readonly apiUrl: string;
    readonly tenantId: string;
    readonly downloads: Downloads;
    readonly archives: FolderArchives;
    readonly maxBytes: number;
    readonly passwords: () => Passwords;
  },
): { readonly downloads: ShareDownloads; readonly folders: FolderLinks; readonly uploads: LinkUploads } {
  const { apiUrl } = services;
  const address = { basePath: new URL(apiUrl).pathname, secure: apiUrl.startsWith('https:') };
  const proofs = new ShareProofs(services);
  const counted = new CountedDownloads({ ...services, proofs, cookie: new ShareCookie({ name: 'carrel_download', ...address }) });
  const sharePasswords = new SharePasswords({ ...services, throttle: new LoginThrottle(services) });
  const shareSessions = new ShareSessions({ ...services, sessionCookie: new ShareCookie({ name: 'carrel_share', ...address }) });
  const deps = { ...services, proofs, counted, sharePasswords, shareSessions };
  const admission = new LinkAdmission(deps);
  return {
    downloads: new ShareDownloads(deps),
    folders: new FolderLinks({ ...deps, admission }),
    uploads: new LinkUploads({ ...deps, admission }),
  };
}
