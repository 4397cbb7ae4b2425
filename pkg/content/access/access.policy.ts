import { type Actor, type Level, LEVELS } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';

/** A folder above a file or folder, as far as access depends on it. */
export interface Ancestor {
  readonly uuid: string;
  readonly ownerId: number;
}

/** A file or folder whose access is decided: its owner, and the folders above it (a folder is the last of its own). */
export interface Placed {
  readonly uuid: string;
  readonly ownerId: number;
  readonly ancestors: readonly Ancestor[];
}

/** The level that grants give the actor on one resource itself; a user's permission set is one. */
export interface Granted {
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

/** Whether the actor is admin by owning the thing or a folder above it: such access comes from no grant and has no end. */
export const isOwned = (thing: Placed, actor: Pick<Actor, 'userId'>): boolean =>
  thing.ownerId === actor.userId || thing.ancestors.some((folder) => folder.ownerId === actor.userId);

/**
 * The highest level wins. An owner is admin; the owner of a folder is admin of everything below it, whoever put it there;
 * a grant on a folder covers everything below it (docs/design/api-conventions.md, Permissions).
 */
export function levelOn(kind: 'file' | 'folder', actor: Pick<Actor, 'userId'>, thing: Placed, granted: Granted): Level | null {
  if (isOwned(thing, actor)) return 'admin';
  const levels = [granted.levelOf(kind, thing.uuid), ...thing.ancestors.map((folder) => granted.levelOf('folder', folder.uuid))];
  return LEVELS.findLast((level) => levels.includes(level)) ?? null;
}

/**
 * How many of the folders above, counted from the root, the actor may not know of. They see the others, because rights on a folder hold for everything
 * below it. All of the folders are hidden where the actor has rights on the thing alone.
 */
export function hiddenAbove(actor: Pick<Actor, 'userId'>, ancestors: readonly Ancestor[], granted: Granted): number {
  const first = ancestors.findIndex(({ uuid, ownerId }) => ownerId === actor.userId || granted.levelOf('folder', uuid) !== null);
  return first === -1 ? ancestors.length : first;
}

/** Levels are cumulative: admin includes write, write includes read. */
export const allows = (level: Level | null, wanted: Level): boolean => level !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/** Throws `not_found` where the actor may not know of the thing, `forbidden` where they may see it but not do that. */
export function requireLevel(level: Level | null, wanted: Level): void {
  if (level === null) throw new Problem('not_found');
  if (!allows(level, wanted)) throw new Problem('forbidden', `Requires ${wanted} access; you have ${level} access.`);
}

/** What a grant gives the actor, and when that ends; null: never. */
export interface Right {
  readonly level: Level;
  readonly endsAt: Date | null;
}

/** Whether one of these rights gives at least as much for at least as long. */
const covers = (rights: readonly Right[], { level, endsAt }: Right): boolean =>
  rights.some((right) => allows(right.level, level) && (right.endsAt === null || (endsAt !== null && right.endsAt >= endsAt)));

/**
 * A move must not give what the file's owner, or the owner of a folder that it leaves, could not take back. So who owns neither, admin by a grant too,
 * may not move it to where they would have more or for longer, nor below a folder of theirs or of somebody else who does not own it already: no grant
 * that is revoked would end that. Throws `forbidden`.
 * `rights`: by the actor's grants on the file and the folders above it now, and on those of `ancestors`, where it goes.
 */
export function requireMove(
  actor: Pick<Actor, 'userId'>,
  file: Placed,
  ancestors: readonly Ancestor[],
  rights: { readonly here: readonly Right[]; readonly there: readonly Right[] },
): void {
  if (isOwned(file, actor)) return;
  const owns = ancestors.some(({ ownerId }) => ownerId === actor.userId);
  if (owns || !rights.there.every((right) => covers(rights.here, right)))
    throw new Problem('forbidden', 'This move would give you more access than you have; the owner of the file can move it.');
  const admins = [file, ...file.ancestors].map(({ ownerId }) => ownerId);
  if (ancestors.some(({ ownerId }) => !admins.includes(ownerId)))
    throw new Problem(
      'forbidden',
      'This move would give the owner of that folder more access than they have; the owner of the file can move it.',
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
