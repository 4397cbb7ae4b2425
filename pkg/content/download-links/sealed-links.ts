import { z } from 'zod';
import { SealError, type Sealer } from '../../runtime/sealing.ts';

/** The sealed content of a link, to a file or a folder; `until` in milliseconds since the epoch. */
const SealedLink = z.object({
  file: z.uuid().optional(),
  version: z.int().optional(),
  folder: z.uuid().optional(),
  user: z.uuid(),
  /** Left out: whoever has the link needs no session (`FetchLink`). */
  session: z.uuid().optional(),
  until: z.int(),
});
export type SealedLink = z.output<typeof SealedLink>;

/** A link to a version of a file that works without a session of `user`, who gave it away. */
export interface FetchLink {
  readonly file: string;
  readonly version: number;
  readonly user: string;
  readonly until: number;
}

interface Seal {
  readonly sealer: Sealer;
  readonly tenantId: string;
}

/** Returns the sealed part of a link: nobody can forge or read it, and no other tenant opens it. */
export const sealLink = ({ sealer, tenantId }: Seal, link: SealedLink | FetchLink): string =>
  sealer.seal(JSON.stringify(link), associatedData(tenantId));

/** Returns undefined if the link is not ours. The caller decides whether it has expired. */
export function openLink({ sealer, tenantId }: Seal, sealed: string): SealedLink | undefined {
  try {
    // Another release may have sealed it in another shape.
    return SealedLink.safeParse(JSON.parse(sealer.open(sealed, associatedData(tenantId)))).data;
  } catch (error) {
    if (!(error instanceof SealError) && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

const associatedData = (tenantId: string): string[] => [tenantId, 'files', 'download', 'ticket'];
