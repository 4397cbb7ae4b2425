/** The kinds of fault. Never rename one: rows of carrel.integrity_faults, metrics and alerts contain it. */
export const FAULT_KINDS = [
  'missing_object',
  'wrong_size',
  'wrong_checksum',
  'unowned_object',
  'foreign_object',
  'wrong_usage',
] as const;

interface OfVersion {
  /** uuid */
  readonly file: string;
  readonly version: number;
  readonly key: string;
}

export type Fault =
  | ({ readonly kind: 'missing_object' } & OfVersion)
  /** In bytes: `expected` by the row. */
  | ({ readonly kind: 'wrong_size'; readonly expected: number; readonly found: number } & OfVersion)
  | ({ readonly kind: 'wrong_checksum' } & OfVersion)
  | { readonly kind: 'unowned_object'; readonly key: string; readonly size: number }
  /** In a bucket of the platform's. */
  | { readonly kind: 'foreign_object'; readonly key: string; readonly size: number }
  /** For a user (uuid): `counted` is the number of bytes in the row, `found` the bytes of their versions. */
  | { readonly kind: 'wrong_usage'; readonly user: string; readonly counted: number; readonly found: number };

export interface Finding {
  readonly fault: Fault;
  /** True if the check corrected the fault. It does so only if nothing is lost. */
  readonly isRepaired: boolean;
}

/** Returns a sentence for people. It contains no names of files, because people outside the tenant read the log. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'missing_object':
      return `version ${fault.version} of file ${fault.file} has no object: ${fault.key} is missing`;
    case 'wrong_size':
      return `version ${fault.version} of file ${fault.file} has ${fault.expected} bytes, its object ${fault.key} ${fault.found}`;
    case 'wrong_checksum':
      return `version ${fault.version} of file ${fault.file}: the bytes of its object ${fault.key} have another checksum`;
    case 'unowned_object':
      return `object ${fault.key} of ${fault.size} bytes belongs to no version`;
    case 'foreign_object':
      return `object ${JSON.stringify(fault.key)} of ${fault.size} bytes was not written by Carrel`;
    case 'wrong_usage':
      return `user ${fault.user}: ${fault.counted} bytes are counted, ${fault.found} are there`;
  }
}
