import type { Api, ApiReply } from '../../clients/api.ts';
import { batchEnd } from '../../clients/batches.ts';
import type { ContentModel } from './content-model.ts';
import { alternative, type File, type Folder, type Item, Refused } from './records.ts';

/** The change that a batch makes, as POST /batch takes it. */
export type BatchChange =
  | { readonly operation: 'delete' | 'restore' | 'purge' }
  | { readonly operation: 'move' | 'copy'; readonly location: Folder | null; readonly onConflict: 'fail' | 'rename' }
  | { readonly operation: 'grant'; readonly user: number; readonly level: 'read' | 'write' | 'admin' }
  | { readonly operation: 'revoke'; readonly user: number };

/** Maps the id of each item to `succeeded`, `with_folder`, or the code of its refusal. */
type Outcomes = Map<string, string>;

export interface EndedBatch {
  readonly outcomes: Outcomes;
  /** Ids of the copies, or of the grants, that were made of items. */
  readonly made: ReadonlyMap<string, string>;
}

/** Requests a batch, and waits for its end. `people`: their ids. */
export async function sendBatch(
  api: Api,
  people: readonly string[],
  items: readonly Item[],
  change: BatchChange,
): Promise<ApiReply> {
  const given = argumentsOf(people, change);
  const request = {
    operation: change.operation,
    items: items.map(({ kind, id }) => ({ type: kind, id })),
    ...(given ? { arguments: given } : {}),
  };
  const end = await batchEnd(api, request);
  const made = new Map([...end.results].flatMap(([id, result]) => (result?.['copy_id'] ? [[id, result['copy_id']]] : [])));
  if (change.operation === 'grant')
    for (const { kind, id } of items) {
      const { body } = await api.get(`/${kind}s/${id}/permissions`, { query: { limit: 200 } });
      const grant = body.data?.find(({ user_id }: { user_id: string | null }) => user_id === people[change.user]);
      if (grant) made.set(id, grant.id);
    }
  return { status: 200, headers: {}, bytes: Buffer.alloc(0), body: { outcomes: end.items, made } satisfies EndedBatch };
}

function argumentsOf(people: readonly string[], change: BatchChange): object | undefined {
  if ('location' in change) return { folder_id: change.location?.id ?? null, on_conflict: change.onConflict };
  if (!('user' in change)) return undefined;
  const user_id = people[change.user];
  return change.operation === 'grant' ? { user_id, permission_level: change.level } : { user_id };
}

/** Applies the batch to the model, where new items get the ids of `made`. Returns the outcome of each item. */
export function applyBatch(
  model: ContentModel,
  actor: number,
  items: readonly Item[],
  change: BatchChange,
  made: EndedBatch['made'],
): Outcomes {
  const named = [...new Set(items)];
  if (change.operation === 'copy') return new Copies(model, actor, change, made).run(named);
  const outcomes: Outcomes = new Map();
  const isLast = change.operation === 'purge';
  const files = named.filter((item): item is File => item.kind === 'file');
  const folders = byDepth(model, named, isLast ? -1 : 1);
  const one = (item: Item, again?: () => void): void => {
    const isCovered = ['delete', 'restore', 'move'].includes(change.operation) && wentWith(model, item, outcomes);
    outcomes.set(item.id, isCovered ? 'with_folder' : outcomeOf(again ?? (() => single(model, actor, item, change, made))));
  };
  if (isLast) for (const file of files) one(file);
  for (const folder of folders) one(folder);
  if (isLast) return outcomes;
  // Files that take no more than the plain case are changed before the others.
  const isPlain = plainMove(model, actor, change);
  const later = files.filter((file) => {
    if (!isPlain(file)) return true;
    one(file, () => single(model, actor, file, change.operation === 'move' ? { ...change, onConflict: 'fail' } : change, made));
    return outcomes.get(file.id) === 'name_conflict';
  });
  for (const file of later) one(file);
  return outcomes;
}

const byDepth = (model: ContentModel, items: readonly Item[], sign: 1 | -1): Folder[] =>
  items
    .filter((item): item is Folder => item.kind === 'folder')
    .toSorted((one, other) => sign * (model.above(one).length - model.above(other).length));

/** Went with a folder above it that the same batch has changed. */
function wentWith(model: ContentModel, item: Item, outcomes: Outcomes): boolean {
  const above = model.above(item).filter((folder) => folder !== item);
  return above.some((folder) => outcomes.get(folder.id) === 'succeeded' && (item.trashed === null || item.trashed === folder));
}

/** Moves files without `rename`: of those that would get one name the first gets it. */
function plainMove(model: ContentModel, actor: number, change: BatchChange): (file: File) => boolean {
  if (change.operation !== 'move') return () => true;
  const { location } = change;
  return (file) =>
    !model.grants.some(({ item }) => item === file) &&
    (location === null ? file.owner === actor : model.owns(actor, file)) &&
    !model.hasSibling(file, location);
}

function single(model: ContentModel, actor: number, item: Item, change: BatchChange, made: EndedBatch['made']): void {
  switch (change.operation) {
    case 'delete':
      return model.trash(actor, item.id);
    case 'purge':
      return model.purge(actor, item.id);
    case 'restore':
      return model.restore(actor, item.id, undefined, 'fail');
    case 'grant': {
      const { grant, created } = model.grant(actor, item.id, change.user, change.level);
      if (created) model.grants.push({ ...grant, id: made.get(item.id) ?? `no grant on ${item.id}` });
      return undefined;
    }
    case 'revoke':
      return model.revokeOf(actor, item.id, change.user);
    case 'move':
      return move(model, actor, item, change.location?.id ?? null, change.onConflict);
    case 'copy':
      throw new Error('copies are made together');
  }
}

function move(model: ContentModel, actor: number, item: Item, parentId: string | null, onConflict: 'fail' | 'rename'): void {
  const { name } = item;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return model.change(actor, item.id, attempt === 0 ? undefined : alternative(name, attempt), parentId);
    } catch (error) {
      const isTaken = error instanceof Refused && error.code === 'name_conflict';
      if (!isTaken || onConflict === 'fail' || attempt === 100) throw error;
    }
  }
}

function outcomeOf(run: () => unknown): string {
  try {
    run();
    return 'succeeded';
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

interface Planned {
  readonly item: Item;
  readonly rank: number;
  /** The folder whose copy it is copied into; null: it was named. */
  readonly within: Folder | null;
}

/** The copies of a batch: folders with their content, the highest first, then all files together. */
class Copies {
  readonly #model: ContentModel;
  readonly #actor: number;
  readonly #to: Extract<BatchChange, { operation: 'move' | 'copy' }>;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #made = new Map<Item, Folder>();
  readonly #outcomes: Outcomes = new Map();

  constructor(
    model: ContentModel,
    actor: number,
    to: Extract<BatchChange, { operation: 'move' | 'copy' }>,
    ids: ReadonlyMap<string, string>,
  ) {
    this.#model = model;
    this.#actor = actor;
    this.#to = to;
    this.#ids = ids;
  }

  run(named: readonly Item[]): Outcomes {
    const planned = this.#plan(named);
    const ordered = [...planned.values()].toSorted((one, other) => one.rank - other.rank);
    for (const each of ordered) if (each.item.kind === 'folder') this.#copyFolder(each);
    this.#copyFiles(ordered.filter(({ item }) => item.kind === 'file'));
    return this.#outcomes;
  }

  #plan(named: readonly Item[]): Map<Item, Planned> {
    const rankOf = (item: Item): number => (item.kind === 'file' ? Infinity : this.#model.above(item).length);
    const planned = new Map(named.map((item): [Item, Planned] => [item, { item, rank: rankOf(item), within: null }]));
    const { location } = this.#to;
    for (const folder of byDepth(this.#model, named, 1)) {
      const isBelow = planned.get(folder)?.within !== null;
      const isReadable = folder.trashed === null && this.#model.can(this.#actor, folder, 'read');
      const isThere = location === null || location.trashed === null;
      if (isBelow || !isReadable || !isThere || (location && this.#model.above(location).includes(folder))) continue;
      for (const item of this.#model.items.values())
        if (item !== folder && item.trashed === null && this.#model.above(item).includes(folder))
          planned.set(item, { item, rank: rankOf(item), within: item.parent });
    }
    return planned;
  }

  #copyFolder({ item, within }: Planned): void {
    const outcome = outcomeOf(() => {
      const source = this.#model.require(this.#actor, item, 'read') as Folder;
      const parent = this.#destination(within);
      if (parent && this.#model.above(parent).includes(source)) throw new Refused('conflict');
      const onConflict = within ? 'fail' : this.#to.onConflict;
      const { folder } = this.#model.createFolder(this.#actor, source.name, parent?.id ?? null, onConflict);
      this.#made.set(item, this.#add(folder, item));
    });
    this.#outcomes.set(item.id, outcome);
  }

  /** Throws Refused. */
  #destination(within: Folder | null): Folder | null {
    if (within) {
      const copy = this.#made.get(within);
      if (!copy) throw new Refused('not_found');
      return copy;
    }
    return this.#to.location && (this.#model.require(this.#actor, this.#to.location, 'write') as Folder);
  }

  #copyFiles(planned: readonly Planned[]): void {
    const allowed = planned.filter(({ item, within }) => {
      const outcome = outcomeOf(() => {
        this.#destination(within);
        this.#model.require(this.#actor, item, 'read');
      });
      if (outcome !== 'succeeded') this.#outcomes.set(item.id, outcome);
      return outcome === 'succeeded';
    });
    let free = this.#model.quota - this.#model.used(this.#actor);
    let left = allowed.filter(({ item }) => {
      const { length } = textOf(item);
      if (length > free) this.#outcomes.set(item.id, 'quota_exceeded');
      else free -= length;
      return this.#outcomes.get(item.id) === undefined;
    });
    for (let attempt = 0; left.length > 0; attempt += 1) {
      left = left.filter(({ item, within }) => {
        const name = alternative(item.name, attempt);
        const outcome = outcomeOf(() => {
          const parent = this.#destination(within)?.id ?? null;
          this.#add(this.#model.upload(this.#actor, name, textOf(item), parent, 'fail').file, item);
        });
        const isTaken = outcome === 'name_conflict' && this.#to.onConflict === 'rename';
        if (!isTaken) this.#outcomes.set(item.id, outcome);
        return isTaken;
      });
    }
  }

  #add<T extends Item>(made: T, of: Item): T {
    const added = { ...made, id: this.#ids.get(of.id) ?? `no copy of ${of.id}` };
    this.#model.items.set(added.id, added);
    return added;
  }
}

const textOf = (item: Item): string => (item.kind === 'file' ? (item.versions.get(item.current) ?? '') : '');
