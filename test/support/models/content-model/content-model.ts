import {
  alternative,
  type File,
  type Folder,
  type Grant,
  type Item,
  LEVELS,
  type Level,
  type OnConflict,
  Refused,
  sizes,
} from './records.ts';

const atLeast = (level: Level | null, wanted: Level): boolean =>
  level !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/**
 * A model of the file service in memory, simple rather than fast: the rules of docs/design/api-conventions.md (Files, Folders,
 * Trash, Versions, Permissions). Every method is one request by the user `actor`: it throws Refused, or returns what it
 * changed. People are numbers.
 */
export class ContentModel {
  readonly items = new Map<string, Item>();
  /** In the order in which they were first given. */
  readonly grants: Grant[] = [];
  readonly quota: number;

  constructor(quota: number) {
    this.quota = quota;
  }

  // Access

  /** Folders from the root down; of a folder it is the last itself. */
  above(item: Item): Folder[] {
    const chain: Folder[] = item.kind === 'folder' ? [item] : [];
    for (let folder = item.parent; folder; folder = folder.parent) chain.unshift(folder);
    return chain;
  }

  owns(actor: number, item: Item): boolean {
    return item.owner === actor || this.above(item).some(({ owner }) => owner === actor);
  }

  grantsOf(actor: number, items: readonly Item[]): Grant[] {
    return this.grants.filter(({ user, item }) => user === actor && items.includes(item));
  }

  level(actor: number, item: Item): Level | null {
    if (this.owns(actor, item)) return 'admin';
    const levels = this.grantsOf(actor, [item, ...this.above(item)]).map(({ level }) => level);
    return LEVELS.findLast((level) => levels.includes(level)) ?? null;
  }

  can(actor: number, item: Item, wanted: Level): boolean {
    return atLeast(this.level(actor, item), wanted);
  }

  /** The folders above an item that the actor may know of. */
  seenAbove(actor: number, item: Item): Folder[] {
    const chain = this.above(item);
    const first = chain.findIndex((folder) => folder.owner === actor || this.grantsOf(actor, [folder]).length > 0);
    return first === -1 ? [] : chain.slice(first);
  }

  /** The folder that it is in, as the actor sees it. */
  seenParent(actor: number, item: Item): Folder | null {
    const seen = this.seenAbove(actor, item);
    return (item.kind === 'file' ? seen.at(-1) : seen.at(-2)) ?? null;
  }

  seenPath(actor: number, item: Item): string {
    const seen = this.seenAbove(actor, item).map(({ name }) => name);
    const names = item.kind === 'file' || seen.length === 0 ? [...seen, item.name] : seen;
    return `/${names.join('/')}`;
  }

  // Space

  used(owner: number): number {
    return this.filesOf(owner).reduce((sum, { versions }) => sum + sizes(versions), 0);
  }

  filesOf(owner: number): File[] {
    return [...this.items.values()].filter((item): item is File => item.kind === 'file' && item.owner === owner);
  }

  // Files and folders

  createFolder(
    actor: number,
    name: string,
    parentId: string | null,
    onConflict: OnConflict,
  ): { folder: Folder; created: boolean } {
    const parent = parentId === null ? null : this.#open(actor, parentId);
    const present = this.#sibling('folder', { owner: actor, parent }, name);
    if (present && onConflict === 'reuse') return { folder: present as Folder, created: false };
    const free = this.#freeName('folder', { owner: actor, parent }, name, onConflict);
    return { folder: { kind: 'folder', id: '', owner: actor, name: free, parent, trashed: null }, created: true };
  }

  /** With `replace`, the upload becomes the new content of the file that has the name. */
  upload(
    actor: number,
    name: string,
    text: string,
    parentId: string | null,
    onConflict: OnConflict,
  ): { file: File; created: boolean } {
    const parent = parentId === null ? null : this.#open(actor, parentId);
    const present = this.#sibling('file', { owner: actor, parent }, name) as File | undefined;
    if (present && onConflict === 'replace') {
      this.#addVersion(present, text);
      return { file: present, created: false };
    }
    this.#requireSpace(actor, text);
    return {
      file: this.#newFile(actor, this.#freeName('file', { owner: actor, parent }, name, onConflict), parent, text),
      created: true,
    };
  }

  /** `parentId` undefined: beside the original, where the actor sees that. */
  copy(
    actor: number,
    id: string,
    name: string | undefined,
    parentId: string | null | undefined,
    onConflict: OnConflict,
  ): { file: File } {
    const source = this.#live(actor, id, 'read') as File;
    const parent = parentId === undefined ? this.seenParent(actor, source) : parentId === null ? null : this.#find(parentId);
    if (parent) this.#require(actor, parent.trashed === null ? parent : undefined, 'write');
    const text = source.versions.get(source.current) ?? '';
    this.#requireSpace(actor, text);
    const location = { owner: actor, parent: parent as Folder | null };
    return {
      file: this.#newFile(actor, this.#freeName('file', location, name ?? source.name, onConflict), location.parent, text),
    };
  }

  newVersion(actor: number, id: string, text: string): void {
    this.#addVersion(this.#live(actor, id, 'write') as File, text);
  }

  restoreVersion(actor: number, id: string, number: number): void {
    const file = this.#live(actor, id, 'write') as File;
    if (number === file.current) return;
    const text = file.versions.get(number);
    if (text === undefined) throw new Refused('not_found');
    this.#addVersion(file, text);
  }

  deleteVersion(actor: number, id: string, number: number): void {
    const file = this.#live(actor, id, 'admin') as File;
    if (number === file.current) throw new Refused('conflict');
    if (!file.versions.delete(number)) throw new Refused('not_found');
  }

  /** Renames and moves. `parentId` undefined: it stays; null: to the owner's root. */
  change(actor: number, id: string, name: string | undefined, parentId: string | null | undefined): void {
    const item = this.#live(actor, id, 'write');
    const parent = this.#destination(actor, item, parentId);
    const wanted = name ?? item.name;
    if (item.kind === 'folder') this.#requireMayMove(actor, item, parent);
    this.#requireFree(item, parent, wanted);
    this.#move(item, parent, wanted);
  }

  trash(actor: number, id: string): void {
    const item = this.#live(actor, id, 'write');
    for (const below of this.#below(item)) if (below !== item && below.trashed === null) below.trashed = item as Folder;
    item.trashed = 'self';
  }

  purge(actor: number, id: string): void {
    const item = this.#findTrashable(actor, id);
    this.#require(actor, item, 'admin');
    const gone = this.#below(item);
    this.#end(this.grants.filter((grant) => gone.includes(grant.item)));
    for (const each of gone) this.items.delete(each.id);
  }

  restore(actor: number, id: string, parentId: string | null | undefined, onConflict: OnConflict): void {
    const item = this.#findTrashable(actor, id);
    this.#require(actor, item, 'write');
    if (item.trashed === null) return;
    const parent = this.#destination(actor, item, parentId, true);
    if (parent && parent === item.parent && parent.trashed !== null) throw new Refused('conflict');
    if (item.kind === 'folder') this.#requireMayMove(actor, item, parent);
    const name = this.#freeName(item.kind, { owner: item.owner, parent }, item.name, onConflict);
    const cause = item.trashed === 'self' ? item : item.trashed;
    this.#move(item, parent, name);
    for (const below of this.#below(item)) if (below.trashed === cause) below.trashed = null;
    item.trashed = null;
  }

  // Grants

  /** The grant, which is not among `grants` yet when `created`. */
  grant(actor: number, id: string, user: number, level: Level): { grant: Grant; created: boolean } {
    const item = this.#live(actor, id, 'admin');
    if (user === actor && !this.owns(actor, item)) throw new Refused('forbidden');
    const present = this.grants.find((grant) => grant.item === item && grant.user === user);
    const through = this.#source(actor, item, present);
    if (!present) return { grant: { id: '', item, user, level, by: actor, through }, created: true };
    this.#set(present, level, actor, through);
    return { grant: present, created: false };
  }

  changeGrant(actor: number, grant: Grant, level: Level): void {
    this.#requireGrant(actor, grant);
    if (grant.user === actor && !this.owns(actor, grant.item)) throw new Refused('forbidden');
    this.#set(grant, level, actor, this.#source(actor, grant.item, grant));
  }

  revoke(actor: number, grant: Grant): void {
    this.#requireGrant(actor, grant);
    if (grant.user !== actor) this.#source(actor, grant.item, grant);
    this.#end([grant]);
  }

  /** Revokes the grant of `user`. */
  revokeOf(actor: number, id: string, user: number): void {
    const item = this.#live(actor, id, 'admin');
    const grant = this.grants.find((each) => each.item === item && each.user === user);
    if (!grant) throw new Refused('not_found');
    this.revoke(actor, grant);
  }

  // Questions that batches ask

  /** Another live one has its name there. */
  hasSibling(item: Item, parent: Folder | null): boolean {
    const present = this.#sibling(item.kind, { owner: item.owner, parent }, item.name);
    return present !== undefined && present !== item;
  }

  /** Itself, where it is live and the actor has this level on it. */
  require(actor: number, item: Item, level: Level): Item {
    return this.#live(actor, item.id, level);
  }

  // Helpers of the above

  #find(id: string): Item | undefined {
    return this.items.get(id);
  }

  #require(actor: number, item: Item | undefined, wanted: Level): asserts item is Item {
    if (!item || this.level(actor, item) === null) throw new Refused('not_found');
    if (!this.can(actor, item, wanted)) throw new Refused('forbidden');
  }

  #live(actor: number, id: string, wanted: Level): Item {
    const item = this.#find(id);
    this.#require(actor, item?.trashed === null ? item : undefined, wanted);
    return item as Item;
  }

  /** In the trash or not; there those who may write see it. */
  #findTrashable(actor: number, id: string): Item {
    const item = this.#find(id);
    if (!item || (item.trashed !== null && !this.can(actor, item, 'write'))) throw new Refused('not_found');
    return item;
  }

  /** A live folder that the actor may write in. */
  #open(actor: number, id: string): Folder {
    return this.#live(actor, id, 'write') as Folder;
  }

  #below(item: Item): Item[] {
    return [...this.items.values()].filter(
      (each) => each === item || (item.kind === 'folder' && this.above(each).includes(item)),
    );
  }

  /** A live one of this name. The roots of people are apart. */
  #sibling(kind: Item['kind'], location: Pick<Item, 'owner' | 'parent'>, name: string): Item | undefined {
    return [...this.items.values()].find(
      (item) =>
        item.kind === kind &&
        item.trashed === null &&
        item.name === name &&
        item.parent === location.parent &&
        (location.parent !== null || item.owner === location.owner),
    );
  }

  #freeName(kind: Item['kind'], location: Pick<Item, 'owner' | 'parent'>, name: string, onConflict: OnConflict): string {
    for (let attempt = 0; attempt <= (onConflict === 'rename' ? 100 : 0); attempt += 1) {
      const wanted = alternative(name, attempt);
      if (!this.#sibling(kind, location, wanted)) return wanted;
    }
    throw new Refused('name_conflict');
  }

  #requireFree(item: Item, parent: Folder | null, name: string): void {
    const present = this.#sibling(item.kind, { owner: item.owner, parent }, name);
    if (present && present !== item) throw new Refused('name_conflict');
  }

  #requireSpace(owner: number, text: string): void {
    if (this.used(owner) + text.length > this.quota) throw new Refused('quota_exceeded');
  }

  #newFile(owner: number, name: string, parent: Folder | null, text: string): File {
    return { kind: 'file', id: '', owner, name, parent, trashed: null, versions: new Map([[1, text]]), current: 1 };
  }

  #addVersion(file: File, text: string): void {
    this.#requireSpace(file.owner, text);
    file.current += 1;
    file.versions.set(file.current, text);
  }

  /** A location that equals the one shown to the actor leaves the item where it is. */
  #destination(actor: number, item: Item, parentId: string | null | undefined, isRestoration = false): Folder | null {
    if (parentId === undefined || parentId === (this.seenParent(actor, item)?.id ?? null)) return item.parent;
    if (parentId === null) {
      if (item.owner === actor) return null;
      throw new Refused('forbidden');
    }
    // The former location is in the trash: the caller may not see it, but names it.
    if (isRestoration && parentId === item.parent?.id && item.parent.trashed !== null) throw new Refused('not_found');
    const parent = this.#open(actor, parentId);
    if (item.kind === 'folder' && this.above(parent).includes(item)) throw new Refused('conflict');
    if (item.kind === 'file') this.#requireMayMove(actor, item, parent);
    return parent;
  }

  /** Nobody gives themselves or another owner more by a move than the owners of the item gave. */
  #requireMayMove(actor: number, item: Item, parent: Folder | null): void {
    if (parent === item.parent || parent === null || this.owns(actor, item)) return;
    const chain = this.above(parent);
    const here = this.grantsOf(actor, [item, ...this.above(item)]);
    const isMore = this.grantsOf(actor, chain).some(({ level }) => !here.some((grant) => atLeast(grant.level, level)));
    const admins = [item, ...this.above(item)].map(({ owner }) => owner);
    if (isMore || chain.some(({ owner }) => owner === actor || !admins.includes(owner))) throw new Refused('forbidden');
  }

  /** Grants that were given through folders that it leaves end. */
  #move(item: Item, parent: Folder | null, name: string): void {
    const before = item.kind === 'folder' ? this.above(item).slice(0, -1) : this.above(item);
    item.name = name;
    if (parent === item.parent) return;
    item.parent = parent;
    const after = this.above(item);
    const left = before.filter((folder) => !after.includes(folder));
    const moved = this.#below(item);
    const isOut = ({ item: of, by, through }: Grant): boolean => {
      if (!moved.includes(of)) return false;
      if (through) return through.item.kind === 'folder' && left.includes(through.item);
      return left.some(({ owner }) => owner === by) && !this.owns(by, of);
    };
    this.#end(this.grants.filter(isOut));
  }

  /** The grant through which the actor gives; null: they own it. Not `without`, nor one that rests on it. */
  #source(actor: number, item: Item, without: Grant | undefined): Grant | null {
    if (this.owns(actor, item)) return null;
    const excluded = without ? this.#restingOn([without]) : [];
    const source = this.grants.find(
      (grant) =>
        this.grantsOf(actor, [item, ...this.above(item)]).includes(grant) && grant.level === 'admin' && !excluded.includes(grant),
    );
    if (!source) throw new Refused('forbidden');
    return source;
  }

  #requireGrant(actor: number, grant: Grant): void {
    this.#live(actor, grant.item.id, 'admin');
    if (!this.grants.includes(grant)) throw new Refused('not_found');
  }

  #set(grant: Grant, level: Level, by: number, through: Grant | null): void {
    Object.assign(grant, { level, by, through });
    if (level !== 'admin') this.#end(this.grants.filter((each) => each.through === grant));
  }

  #restingOn(grants: readonly Grant[]): Grant[] {
    const more = this.grants.filter((each) => !grants.includes(each) && each.through !== null && grants.includes(each.through));
    return more.length === 0 ? [...grants] : this.#restingOn([...grants, ...more]);
  }

  #end(grants: readonly Grant[]): void {
    const ended = this.#restingOn(grants);
    this.grants.splice(0, this.grants.length, ...this.grants.filter((grant) => !ended.includes(grant)));
  }
}
