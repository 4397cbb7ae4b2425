/** The helper services that a tenant may have. */
export const HELPER_KINDS = ['translate', 'pdf_optimize', 'pdf_translate'] as const;
export type HelperKind = (typeof HELPER_KINDS)[number];

/** The field in `spec.helpers` of a Tenant for each kind. */
export const HELPER_FIELDS = {
  translate: 'translateUrl',
  pdf_optimize: 'pdfOptimizeUrl',
  pdf_translate: 'pdfTranslateUrl',
} as const;

/** A helper service of a tenant. */
export interface Helper {
  readonly kind: HelperKind;
  /** The base address. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`; null: it needs none. */
  readonly token: string | null;
}
