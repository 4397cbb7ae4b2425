import { type Actor, type Level, LEVELS } from '../../../api/actor.ts';
import { Problem } from '../../../api/problem.ts';

/** A folder above a file or folder, as far as access depends on it. */
export interface Ancestor {
  readonly uuid: string;
  readonly ownerId: number;
}

/** A file or folder that access is decided for: its owner, and its ancestors (for a folder, it is the last of them itself). */
export interface Resource {
  readonly uuid: string;
  readonly ownerId: number;
  readonly ancestors: readonly Ancestor[];
}

/** The level that grants give the actor on one resource itself; a user's permission set is one. */
export interface Granted {
  levelOf(kind: 'file' | 'folder', uuid: string): Level | null;
}

/** An actor, with what is granted to them: the part of a `Caller` that access depends on. */
export interface AccessSubject {
  readonly actor: Pick<Actor, 'userId'>;
  readonly granted: Granted;
}

/**
 * Returns whether the actor is admin because they own the resource or a folder above it.
 * Such access needs no grant and does not expire.
 */
export const isOwnedBy = (resource: Resource, actor: Pick<Actor, 'userId'>): boolean =>
  resource.ownerId === actor.userId || resource.ancestors.some((folder) => folder.ownerId === actor.userId);

/**
 * The highest level wins. An owner is admin; the owner of a folder is admin of everything below it, whoever created it;
 * a grant on a folder covers everything below it (docs/design/api-conventions.md, Permissions).
 */
export function levelOn(kind: 'file' | 'folder', { actor, granted }: AccessSubject, resource: Resource): Level | null {
  if (isOwnedBy(resource, actor)) return 'admin';
  const levels = [
    granted.levelOf(kind, resource.uuid),
    ...resource.ancestors.map((folder) => granted.levelOf('folder', folder.uuid)),
  ];
  return LEVELS.findLast((level) => levels.includes(level)) ?? null;
}

/** Returns the level of an actor who is shown the resource, and so may read it. */
export const accessOf = (kind: 'file' | 'folder', subject: AccessSubject, resource: Resource): Level =>
  levelOn(kind, subject, resource) ?? 'read';

/** Returns what an entity tag holds of it: nothing for an admin, for whom most are. */
export const limitedAccess = ({ access }: { readonly access: Level }): readonly Level[] => (access === 'admin' ? [] : [access]);

/**
 * Returns how many of the ancestors, counted from the root, are hidden from the actor. The others are visible, because rights
 * on a folder cover everything below it. All are hidden if the actor has rights on the resource alone.
 */
export function hiddenAncestors({ actor, granted }: AccessSubject, ancestors: readonly Ancestor[]): number {
  const first = ancestors.findIndex(({ uuid, ownerId }) => ownerId === actor.userId || granted.levelOf('folder', uuid) !== null);
  return first === -1 ? ancestors.length : first;
}

/** Levels are cumulative: admin includes write, write includes read. */
export const allows = (level: Level | null, wanted: Level): boolean =>
  level !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/** Throws `not_found` if the actor may not see the resource, `forbidden` if they may see it but their level is too low. */
export function requireLevel(level: Level | null, wanted: Level): void {
  if (level === null) throw new Problem('not_found');
  if (!allows(level, wanted)) throw new Problem('forbidden', `Requires ${wanted} access; you have ${level} access.`);
}

/** The level that a grant gives the actor, and its end; null means that it never ends. */
export interface Right {
  readonly level: Level;
  readonly endsAt: Date | null;
}

/** Returns whether one of these rights gives at least that level for at least as long. */
const covers = (rights: readonly Right[], { level, endsAt }: Right): boolean =>
  rights.some((right) => allows(right.level, level) && (right.endsAt === null || (endsAt !== null && right.endsAt >= endsAt)));

/**
 * A move must not give access that the owner of the file or folder, or of a folder that it leaves, could not revoke. So an actor
 * who owns neither, even an admin by a grant, may not move it to where they have more access or for longer, nor below a folder
 * whose owner does not own it already: revoking a grant would not end that access. Throws `forbidden`.
 * `rights`: the actor's grants on what moves and its ancestors now (`here`), and on `ancestors`, the destination (`there`).
 */
export function requireMove(
  actor: Pick<Actor, 'userId'>,
  moved: Resource & { readonly kind?: 'file' | 'folder' },
  ancestors: readonly Ancestor[],
  rights: { readonly here: readonly Right[]; readonly there: readonly Right[] },
): void {
  if (isOwnedBy(moved, actor)) return;
  const kind = moved.kind ?? 'file';
  const owns = ancestors.some(({ ownerId }) => ownerId === actor.userId);
  if (owns || !rights.there.every((right) => covers(rights.here, right)))
    throw new Problem('forbidden', `This move would give you more access than you have; the owner of the ${kind} can move it.`);
  const admins = [moved, ...moved.ancestors].map(({ ownerId }) => ownerId);
  if (ancestors.some(({ ownerId }) => !admins.includes(ownerId)))
    throw new Problem(
      'forbidden',
      `This move would give the owner of that folder more access than they have; the owner of the ${kind} can move it.`,
    );
}

const GRANT = /^(read|write|admin):(file|folder)\/(.+)$/;

/** Returns the files and folders on which a permission set grants at least this level. */
export function grantedAtLeast(
  set: { readonly entries: Iterable<string> },
  wanted: Level,
): { files: string[]; folders: string[] } {
  const granted: { file: string[]; folder: string[] } = { file: [], folder: [] };
  for (const entry of set.entries) {
    const [, level, kind, uuid] = GRANT.exec(entry) ?? [];
    if (uuid !== undefined && allows(level as Level, wanted)) granted[kind as 'file' | 'folder'].push(uuid);
  }
  return { files: granted.file, folders: granted.folder };
}
