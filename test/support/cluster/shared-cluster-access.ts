/**
 * API servers that test files share. `idle` has the custom resources and nobody who acts on them; on `operated` an operator runs,
 * and Deployments become available at once. A file that counts what an API server was asked for, harms it, or needs an operator
 * of other settings has one of its own.
 */
export type SharedName = 'idle' | 'operated';

/** The namespace whose Tenants may have hosts under school.example; all may have them under example.org. */
export const SCHOOL_NAMESPACE = 'school';

/** Plain data: kubeconfigs as JSON. */
export interface SharedAccess {
  readonly url: string;
  readonly admin: string;
  /** The kubeconfig of the operator's ServiceAccount. */
  readonly operator: string;
}
