import type { Migration } from '../migration.ts';

const KINDS = ['missing_object', 'wrong_size', 'wrong_checksum', 'unowned_object', 'wrong_usage'];
const check = (kinds: readonly string[]): string => `CHECK (kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')}))`;

/** `foreign_object` is a kind of fault that an integrity check may find. */
export const foreignObjects: Migration<object> = {
  name: '0029-foreign-objects',
  loses: 'How many objects of others the last integrity check of each tenant found.',
  up: () => `
      ALTER TABLE carrel.integrity_faults DROP CONSTRAINT integrity_faults_kind_check,
        ADD CONSTRAINT integrity_faults_kind_check ${check([...KINDS, 'foreign_object'])};
    `,
  down: () => `
      DELETE FROM carrel.integrity_faults WHERE kind = 'foreign_object';
      ALTER TABLE carrel.integrity_faults DROP CONSTRAINT integrity_faults_kind_check, ADD CONSTRAINT integrity_faults_kind_check ${check(KINDS)};
    `,
};
