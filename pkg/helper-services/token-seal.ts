import type { Sealer } from '../runtime/sealing.ts';
import type { HelperKind } from './helper.ts';

interface Seal {
  readonly sealer: Sealer;
  /** Decimal string. */
  readonly tenantId: string;
}

/** The associated data name tenant, row and column (docs/design/tenancy-and-isolation.md, Secrets). */
const associatedData = (tenantId: string, kind: string): string[] => [tenantId, 'helpers', kind, 'token'];

/** Seals the token of a helper for its row. */
export const sealToken = ({ sealer, tenantId }: Seal, kind: HelperKind, token: string): string =>
  sealer.seal(token, associatedData(tenantId, kind));

/** Throws SealError. */
export const openToken = ({ sealer, tenantId }: Seal, kind: HelperKind, sealed: string): string =>
  sealer.open(sealed, associatedData(tenantId, kind));
