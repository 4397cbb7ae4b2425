import type { ProblemCode } from '../../../../pkg/api/error-catalogue.ts';

export const LEVELS = ['read', 'write', 'admin'] as const;
export type Level = (typeof LEVELS)[number];
export type OnConflict = 'fail' | 'rename' | 'reuse' | 'replace';

export interface Folder {
  readonly kind: 'folder';
  readonly id: string;
  readonly owner: number;
  name: string;
  parent: Folder | null;
  /** In the trash, with the folder by whose deletion it went there; `self`: by its own. */
  trashed: Folder | 'self' | null;
}

export interface File {
  readonly kind: 'file';
  readonly id: string;
  readonly owner: number;
  name: string;
  parent: Folder | null;
  trashed: Folder | 'self' | null;
  /** Texts by version number. */
  readonly versions: Map<number, string>;
  current: number;
}

export type Item = Folder | File;

export interface Grant {
  readonly id: string;
  readonly item: Item;
  readonly user: number;
  level: Level;
  by: number;
  /** The grant that made its giver admin; null: they owned the item or a folder above it. */
  through: Grant | null;
}

/** A refusal of the API. */
export class Refused extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode) {
    super(code);
    this.code = code;
  }
}

/** The `attempt`-th alternative to a taken name. */
export const alternative = (name: string, attempt: number): string => {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]+)?$/.exec(name) ?? [];
  return attempt === 0 ? name : `${stem} (${attempt})${extension}`;
};

export const sizes = (versions: ReadonlyMap<number, string>): number =>
  [...versions.values()].reduce((sum, text) => sum + text.length, 0);
