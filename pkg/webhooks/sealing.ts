import type { Sealer } from '../runtime/sealing.ts';

/** The sealed fields of a row of `webhooks`. */
export type SealedColumn = 'secret' | 'previous_secret' | 'headers';

/**
 * Seals and opens the secrets and headers of a tenant's webhooks. The associated data name tenant, row and column
 * (docs/design/tenancy-and-isolation.md, Secrets).
 */
export class WebhookSeal {
  readonly #sealer: Sealer;
  readonly #tenantId: string;

  /** `tenantId` is a decimal string. */
  constructor({ sealer, tenantId }: { sealer: Sealer; tenantId: string }) {
    this.#sealer = sealer;
    this.#tenantId = tenantId;
  }

  seal(webhook: string, column: SealedColumn, plain: string): string {
    return this.#sealer.seal(plain, this.#associatedData(webhook, column));
  }

  /** Throws SealError. */
  open(webhook: string, column: SealedColumn, sealed: string): string {
    return this.#sealer.open(sealed, this.#associatedData(webhook, column));
  }

  /** Returns null if there are no headers. */
  sealHeaders(webhook: string, headers: Readonly<Record<string, string>>): string | null {
    return Object.keys(headers).length === 0 ? null : this.seal(webhook, 'headers', JSON.stringify(headers));
  }

  /** Throws SealError. */
  openHeaders(webhook: string, sealed: string | null): Record<string, string> {
    return sealed === null ? {} : (JSON.parse(this.open(webhook, 'headers', sealed)) as Record<string, string>);
  }

  #associatedData(webhook: string, column: SealedColumn): string[] {
    return [this.#tenantId, 'webhooks', webhook, column];
  }
}
