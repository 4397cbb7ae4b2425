import { type Actor, type Level, LEVELS } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';

/** A folder above something: what it takes to decide by it. */
export interface Ancestor {
  readonly uuid: string;
  readonly ownerId: number;
}

/** Something whose access is decided: its owner, and the folders above it (for a folder itself among them). */
export interface Placed {
  readonly uuid: string;
  readonly ownerId: number;
  readonly ancestors: readonly Ancestor[];
}

/** What is granted to the actor on one very resource; a user's permission set is one. */
export interface Granted {
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

/**
 * The highest level wins. An owner is admin; whoever owns a folder is admin of what lies below it, whosoever put it there;
 * a grant on a folder covers all that is below it. (specification: Permission; design: Permissions)
 */
export function levelOn(kind: 'file' | 'folder', actor: Pick<Actor, 'userId'>, thing: Placed, granted: Granted): Level | null {
  if (thing.ownerId === actor.userId || thing.ancestors.some((folder) => folder.ownerId === actor.userId)) return 'admin';
  const levels = [granted.levelOf(kind, thing.uuid), ...thing.ancestors.map((folder) => granted.levelOf('folder', folder.uuid))];
  return LEVELS.findLast((level) => levels.includes(level)) ?? null;
}

/** Levels are cumulative (specification: Permission). */
export const allows = (level: Level | null, wanted: Level): boolean => level !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/** Throws `not_found` to whoever may not know of the thing, `forbidden` to whoever may see it but not do that. */
export function requireLevel(level: Level | null, wanted: Level): void {
  if (level === null) throw new Problem('not_found');
  if (!allows(level, wanted)) throw new Problem('forbidden', `This takes the level ${wanted}; yours is ${level}.`);
}

/**
 * A move must not do what a grant would: only an admin of the file gives away rights on it. Whoever has less may not move it to where they would
 * have more than now, nor below a folder whose owner is not admin of it already. Throws `forbidden`.
 */
export function requireMove(actor: Pick<Actor, 'userId'>, file: Placed, ancestors: readonly Ancestor[], granted: Granted): void {
  const level = levelOn('file', actor, file, granted);
  if (level === 'admin') return;
  const there = levelOn('file', actor, { ...file, ancestors }, granted);
  if (there !== null && !allows(level, there))
    throw new Problem('forbidden', 'Moving it there would give you more rights on it than you have; its owner can move it.');
  const admins = [file, ...file.ancestors].map(({ ownerId }) => ownerId);
  if (ancestors.some(({ ownerId }) => !admins.includes(ownerId)))
    throw new Problem(
      'forbidden',
      'Moving it there would give the owner of that folder more rights on it than they have; its owner can move it.',
    );
}

const GRANT = /^(read|write|admin):(file|folder)\/(.+)$/;

/** The files and folders on which a permission set grants at least this level. */
export function grantedAtLeast(set: { readonly entries: Iterable<string> }, wanted: Level): { files: string[]; folders: string[] } {
  const granted: { file: string[]; folder: string[] } = { file: [], folder: [] };
  for (const entry of set.entries) {
    const [, level, kind, uuid] = GRANT.exec(entry) ?? [];
    if (uuid !== undefined && allows(level as Level, wanted)) granted[kind as 'file' | 'folder'].push(uuid);
  }
  return { files: granted.file, folders: granted.folder };
}
