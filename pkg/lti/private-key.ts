/** Associated data of a registration's sealed private key (PKCS#8, PEM). `reference` is the row's `managed_ref`. */
export const privateKeyAssociatedData = (tenantId: string, reference: string): string[] => [
  tenantId,
  'lti_tools',
  reference,
  'private_key',
];
