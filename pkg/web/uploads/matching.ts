import type { FoundFile } from './walk.ts';

/** An upload that waits for its file. */
export interface Candidate {
  readonly id: number;
  readonly folderId: string | null;
  readonly path: readonly string[];
  readonly size: number;
  readonly lastModified: number;
}

export interface Match {
  readonly id: number;
  /** False: the file has changed since, and the server's bytes do not fit to it. */
  readonly isSame: boolean;
}

/**
 * Finds the uploads that files continue, each file and each upload once.
 * - In a folder (`target`), a file belongs to the upload with its path there, whatever is in it.
 * - Chosen again, it belongs to one with its name, size and time of change. Somebody may choose a folder within, or around, the
 *   one that was chosen first: one of both paths has to be the end of the other. The same path comes first.
 * - A file that has changed belongs to the one with its path; one that was chosen by itself, to the only one with its name.
 */
export function matchesOf(
  found: readonly FoundFile[],
  candidates: readonly Candidate[],
  target?: { readonly folderId: string | null },
): Map<FoundFile, Match> {
  const open = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    if (target && candidate.folderId !== target.folderId) continue;
    const name = nameOf(candidate);
    const others = open.get(name);
    if (others) others.push(candidate);
    else open.set(name, [candidate]);
  }
  const matches = new Map<FoundFile, Match>();
  const match = (isSame: boolean, choose: (file: FoundFile, named: readonly Candidate[]) => Candidate | undefined): void => {
    for (const file of found) {
      const named = open.get(nameOf(file)) ?? [];
      const candidate = matches.has(file) ? undefined : choose(file, named);
      if (!candidate) continue;
      matches.set(file, { id: candidate.id, isSame });
      named.splice(named.indexOf(candidate), 1);
    }
  };
  match(true, (file, named) => named.find((one) => hasPathOf(one, file) && isUnchanged(one, file)));
  if (!target) match(true, (file, named) => named.find((one) => isNear(one, file) && isUnchanged(one, file)));
  match(false, (file, named) => named.find((one) => hasPathOf(one, file)));
  if (!target) match(false, (file, named) => (file.path.length === 1 && named.length === 1 ? named[0] : undefined));
  return matches;
}

type WithPath = Pick<Candidate, 'path'>;

const nameOf = ({ path }: WithPath): string => path.at(-1) ?? '';

const isUnchanged = ({ size, lastModified }: Candidate, { file }: FoundFile): boolean =>
  file.size === size && file.lastModified === lastModified;

const hasPathOf = (a: WithPath, b: WithPath): boolean => a.path.length === b.path.length && isNear(a, b);

function isNear(a: WithPath, b: WithPath): boolean {
  const length = Math.min(a.path.length, b.path.length);
  const end = b.path.slice(-length);
  return a.path.slice(-length).every((name, index) => name === end[index]);
}
