import type { Endpoint } from '../api/endpoint.ts';
import type { Events } from '../events/events.ts';
import type { WorkRequests } from '../events/work.ts';
import type { PermissionSets } from '../identity/permission-sets.ts';
import type { Sessions } from '../identity/sessions.service.ts';
import type { UserBelongings } from '../identity/users/belongings.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { Sealer } from '../runtime/sealing.ts';
import type { Database } from '../store/postgres/database.ts';
import type { GenerationCache } from '../store/redis/generation.ts';
import type { Objects } from '../store/s3/objects.ts';
import { Belongings } from './belongings.ts';
import { Downloads } from './downloads/downloads.service.ts';
import { ticketEndpoints } from './downloads/tickets.endpoints.ts';
import { Tickets } from './downloads/tickets.service.ts';
import { fileEndpoints } from './files/files.endpoints.ts';
import { Files } from './files/files.service.ts';
import { folderEndpoints } from './folders/folders.endpoints.ts';
import { Folders } from './folders/folders.service.ts';
import { permissionEndpoints } from './permissions/permissions.endpoints.ts';
import { Permissions } from './permissions/permissions.service.ts';
import { type TransferLimits, Transfers } from './transfers/transfers.ts';
import { Blobs } from './uploads/blobs.ts';
import { Uploads } from './uploads/uploads.service.ts';

export { grantSource } from './access/grant-source.ts';
export type { TransferLimits } from './transfers/transfers.ts';

/** Where nothing sets it, a file is bounded by its owner's quota and by what one multipart upload to S3 can hold (10,000 parts of 8 MiB). */
const DEFAULT_MAX_UPLOAD_BYTES = 10_000 * 8 * 1024 * 1024;

export interface ContentDeps {
  readonly db: Database;
  readonly objects: Objects;
  readonly work: WorkRequests;
  readonly events: Events;
  readonly cache: GenerationCache;
  readonly permissionSets: PermissionSets;
  readonly sessions: Sessions;
  /** For tickets. */
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Decimal string. */
  readonly tenantId: string;
  /** Absolute, without a slash at the end. */
  readonly apiUrl: string;
  readonly bucket: string;
  /** Of one file, in bytes. */
  readonly maxUploadBytes: number | undefined;
  /** Tests: other limits than those that hold. */
  readonly transferLimits?: Partial<TransferLimits> | undefined;
}

/** Files, folders and grants of one tenant: their endpoints, and what identity must know when a user goes. */
export function createContent(deps: ContentDeps): { endpoints: Endpoint[]; belongings: UserBelongings } {
  const files = new Files(deps);
  const blobs = new Blobs(deps);
  const transfers = new Transfers({ clock: deps.clock, limits: deps.transferLimits });
  const uploads = new Uploads({ ...deps, files, blobs, transfers, maxBytes: deps.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES });
  const downloads = new Downloads({ ...deps, files, transfers });
  return {
    endpoints: [
      ...fileEndpoints({ files, uploads, downloads, apiUrl: deps.apiUrl }),
      ...ticketEndpoints(new Tickets({ ...deps, files, downloads }), deps.apiUrl),
      ...folderEndpoints(new Folders(deps)),
      ...permissionEndpoints(new Permissions(deps)),
    ],
    belongings: new Belongings(deps),
  };
}
