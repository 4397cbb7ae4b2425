import fc from 'fast-check';
import type { Api, ApiReply } from '../../clients/api.ts';
import { range } from '../../wait.ts';
import { applyBatch, type BatchChange, type EndedBatch, sendBatch } from './batches.ts';
import { ContentModel } from './content-model.ts';
import {
  applyImport,
  type Archive,
  archiveOfText,
  chosenArchive,
  type EndedImport,
  POLICIES,
  sendImport,
  textOfArchive,
} from './imports.ts';
import { type File, type Folder, type Grant, type Item, LEVELS, type OnConflict, Refused } from './records.ts';

export interface Person {
  readonly id: string;
  readonly api: Api;
}

/** The random numbers of a step. The existing people and items decide what they mean. */
export interface Choice {
  readonly verb: Verb;
  /** 0 to 2: this person; to 5: who owns what it is about; to 11: whom that is shared with; to 14: who owns a folder above it. */
  readonly actor: number;
  readonly item: number;
  readonly location: number;
  readonly name: number;
  readonly option: number;
}

/** A request, and its effect on the model. */
export interface Step {
  readonly actor: number;
  readonly says: string;
  readonly send: (api: Api) => Promise<ApiReply>;
  /** Throws Refused. A string says what differs from what was served. */
  readonly apply: (body: ApiReply['body']) => unknown;
  /** It may have quota reserved for a moment after its end. */
  readonly reserves?: boolean;
}

const NAMES = ['a', 'b', 'c.txt', 'notes.tar'];
const TEXTS = ['x', 'short text', 'y'.repeat(120), 'z'.repeat(400)];
/** The relative frequency of each verb. */
const VERBS = {
  createFolder: 2,
  upload: 2,
  newVersion: 1,
  copy: 1,
  change: 6,
  trash: 1,
  restore: 1,
  purge: 1,
  restoreVersion: 1,
  deleteVersion: 1,
  grant: 3,
  changeGrant: 1,
  revoke: 1,
};
/** Jobs, which a worker does, and the upload of an archive that an import may name. */
const JOB_VERBS = { batch: 8, import: 5, uploadArchive: 2 };
type Verb = keyof typeof VERBS | keyof typeof JOB_VERBS;

const choicesOf = (verbs: Readonly<Partial<Record<Verb, number>>>): fc.Arbitrary<Choice> =>
  fc.record({
    verb: fc.oneof(...Object.entries(verbs).map(([verb, weight]) => ({ arbitrary: fc.constant(verb as Verb), weight }))),
    actor: fc.nat(14),
    item: fc.nat(1_000),
    location: fc.nat(1_000),
    name: fc.nat(1_000),
    option: fc.nat(1_000),
  });

export const choices = choicesOf(VERBS);
export const choicesWithJobs = choicesOf({ ...VERBS, ...JOB_VERBS });

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];
const onConflicts = (option: number, ...of: OnConflict[]): OnConflict => pick(['fail', ...of], option) ?? 'fail';

/** The people and items that a choice means in the present state; null where none exists yet. */
interface Subjects {
  readonly actor: number;
  readonly item: Item | null;
  readonly file: File | null;
  readonly grant: Grant | null;
  /** The folder that something is put into; null: the root. */
  readonly location: Folder | null;
}

function subjectsOf(model: ContentModel, people: readonly Person[], choice: Choice): Subjects {
  const { verb, option } = choice;
  const all = [...model.items.values()];
  const isWanted = ({ trashed }: Item): boolean => (verb === 'restore' ? trashed !== null : trashed === null);
  // Mostly what can be done, now and then what is refused.
  const items = option % 6 === 0 ? all : all.filter(isWanted);
  const item = pick(items, choice.item) ?? null;
  const wantsArchive = verb === 'import' && choice.name % 8 !== 0;
  const files = items.filter((each): each is File => each.kind === 'file' && (!wantsArchive || archiveIn(each) !== null));
  const file = pick(files, choice.item) ?? null;
  const grant = pick(model.grants, choice.item) ?? null;
  const ofVerb = {
    newVersion: file,
    import: file,
    copy: file,
    restoreVersion: file,
    deleteVersion: file,
    changeGrant: grant?.item,
    revoke: grant?.item,
  };
  const actor = actorOf(model, people, choice.actor, ofVerb[verb as keyof typeof ofVerb] ?? item);
  const folders = items.filter((each): each is Folder => each.kind === 'folder' && each.trashed === null);
  const shared = folders.filter((folder) => folder.owner !== actor && model.can(actor, folder, 'write'));
  const own = folders.filter((folder) => folder.owner === actor);
  const location = pick([[], shared, shared, shared, own, folders][choice.location % 6] ?? [], choice.location) ?? null;
  return { actor, item, file, grant, location };
}

function actorOf(model: ContentModel, people: readonly Person[], choice: number, subject: Item | null): number {
  const fixed = choice % people.length;
  if (choice < people.length || !subject) return fixed;
  if (choice < 2 * people.length) return subject.owner;
  const chain = [subject, ...model.above(subject)];
  return (
    pick(
      model.grants.filter(({ item }) => chain.includes(item)),
      fixed,
    )?.user ?? fixed
  );
}

/** Null where there is nothing yet to do this with. */
export function stepOf(model: ContentModel, people: readonly Person[], choice: Choice): Step | null {
  const subjects = subjectsOf(model, people, choice);
  const step = stepBy(model, people, choice, subjects);
  return step && { ...step, actor: subjects.actor };
}

function stepBy(
  model: ContentModel,
  people: readonly Person[],
  choice: Choice,
  { actor, item, file, grant, location }: Subjects,
): Omit<Step, 'actor'> | null {
  const { verb, option } = choice;
  const name = pick(NAMES, choice.name) as string;
  const text = pick(TEXTS, option) as string;
  const add = (made: Item, id: string): void => void model.items.set(id, { ...made, id });
  switch (verb) {
    case 'createFolder': {
      const onConflict = onConflicts(option, 'rename', 'reuse');
      return {
        says: `creates the folder ${name} in ${location?.id}, ${onConflict}`,
        send: (api) => api.post('/folders', { name, parent_id: location?.id ?? null, on_conflict: onConflict }),
        apply: ({ id }) => {
          const { folder, created } = model.createFolder(actor, name, location?.id ?? null, onConflict);
          if (created) add(folder, id);
        },
      };
    }
    case 'uploadArchive':
    case 'upload': {
      const content = verb === 'upload' ? text : textOfArchive(chosenArchive(choice));
      const onConflict = onConflicts(choice.item, 'rename', 'replace');
      const fields = { on_conflict: onConflict, ...(location ? { folder_id: location.id } : {}) };
      return {
        says: `uploads ${name} of ${content.length} bytes to ${location?.id}, ${onConflict}`,
        send: (api) => api.upload('/files', { file: Buffer.from(content, 'latin1'), name, fields }),
        apply: ({ id }) => {
          const made = model.upload(actor, name, content, location?.id ?? null, onConflict);
          if (made.created) add(made.file, id);
        },
      };
    }
    case 'newVersion':
      return (
        (file && {
          says: `writes ${text.length} bytes to ${file.id}`,
          send: (api) => api.upload(`/files/${file.id}`, { method: 'PUT', file: Buffer.from(text), name }),
          apply: () => model.newVersion(actor, file.id, text),
        }) ??
        null
      );
    case 'copy': {
      if (!file) return null;
      const onConflict = onConflicts(option, 'rename');
      const to = choice.location % 3 === 0 ? undefined : (location?.id ?? null);
      const as = option % 2 === 0 ? name : undefined;
      return {
        says: `copies ${file.id} to ${to} as ${as}, ${onConflict}`,
        send: (api) => api.post(`/files/${file.id}/copy`, { on_conflict: onConflict, ...given({ folder_id: to, name: as }) }),
        apply: ({ id }) => add(model.copy(actor, file.id, as, to, onConflict).file, id),
      };
    }
    case 'change': {
      if (!item) return null;
      const to = option % 3 === 0 ? undefined : (location?.id ?? null);
      const as = option % 2 === 0 || to === undefined ? name : undefined;
      return {
        says: `moves ${item.kind} ${item.id} to ${to} as ${as}`,
        send: (api) => api.patch(pathOf(item), given({ name: as, [locationField(item)]: to })),
        apply: () => model.change(actor, item.id, as, to),
      };
    }
    case 'trash':
      return item
        ? {
            says: `deletes ${item.kind} ${item.id}`,
            send: (api) => api.delete(pathOf(item)),
            apply: () => model.trash(actor, item.id),
          }
        : null;
    case 'purge':
      return item
        ? {
            says: `deletes ${item.kind} ${item.id} for ever`,
            send: (api) => api.delete(pathOf(item), { query: { permanent: true } }),
            apply: () => model.purge(actor, item.id),
          }
        : null;
    case 'restore': {
      if (!item) return null;
      const onConflict = onConflicts(choice.name, 'rename');
      const to = option % 3 === 0 ? (location?.id ?? null) : undefined;
      return {
        says: `restores ${item.kind} ${item.id} to ${to}, ${onConflict}`,
        send: (api) => api.post(`${pathOf(item)}/restore`, { on_conflict: onConflict, ...given({ [locationField(item)]: to }) }),
        apply: () => model.restore(actor, item.id, to, onConflict),
      };
    }
    case 'restoreVersion':
    case 'deleteVersion': {
      if (!file) return null;
      const number = 1 + (option % (file.current + 1));
      const path = `/files/${file.id}/versions/${number}`;
      return verb === 'restoreVersion'
        ? {
            says: `restores ${path}`,
            send: (api) => api.post(`${path}/restore`, {}),
            apply: () => model.restoreVersion(actor, file.id, number),
          }
        : { says: `deletes ${path}`, send: (api) => api.delete(path), apply: () => model.deleteVersion(actor, file.id, number) };
    }
    case 'grant': {
      if (!item) return null;
      const [user, level] = [choice.name % people.length, pick(LEVELS, option) ?? 'read'] as const;
      return {
        says: `grants ${level} on ${item.kind} ${item.id} to ${user}`,
        send: (api) => api.post(`${pathOf(item)}/permissions`, { permission_level: level, user_id: people[user]?.id }),
        apply: ({ id }) => {
          const made = model.grant(actor, item.id, user, level);
          if (made.created) model.grants.push({ ...made.grant, id });
        },
      };
    }
    case 'changeGrant': {
      if (!grant) return null;
      const level = pick(LEVELS, option) ?? 'read';
      return {
        says: `changes grant ${grant.id} to ${level}`,
        send: (api) => api.patch(grantPath(grant), { permission_level: level }),
        apply: () => model.changeGrant(actor, grant, level),
      };
    }
    case 'batch': {
      const items = [...model.items.values()];
      const chosen = range(1 + (choice.name % BATCH_MOST)).flatMap((n) => pick(items, choice.item * (n + 1) + n) ?? []);
      if (chosen.length === 0) return null;
      const change = changeOf(choice, people, location);
      const ids = people.map(({ id }) => id);
      return {
        says:
          `batch ${JSON.stringify({ ...change, location: location?.id })} ` +
          `of ${chosen.map(({ kind, id }) => `${kind} ${id}`).join()}`,
        send: (api) => sendBatch(api, ids, chosen, change),
        apply: ({ outcomes, made }: EndedBatch) => differenceOf(outcomes, applyBatch(model, actor, chosen, change, made)),
      };
    }
    case 'import': {
      const isStored = option % 3 === 0;
      if (isStored && !file) return null;
      const request = {
        file: isStored && file ? file.id : null,
        archive: isStored && file ? archiveIn(file) : chosenArchive(choice),
        location,
        onConflict: pick(POLICIES, choice.item) ?? 'fail',
        isCanceled: option % 5 === 4,
      };
      const entries = request.archive?.entries.map(({ name: path, text: { length } }) => `${path} (${length})`);
      const shown = { ...request, archive: entries, fault: request.archive?.fault, location: location?.id };
      return {
        says: `imports ${JSON.stringify(shown)}`,
        send: (api) => sendImport(api, request),
        apply: (ended: EndedImport) => applyImport(model, actor, request, ended),
        reserves: true,
      };
    }
    case 'revoke':
      return grant
        ? { says: `revokes ${grant.id}`, send: (api) => api.delete(grantPath(grant)), apply: () => model.revoke(actor, grant) }
        : null;
  }
}

const archiveIn = ({ versions, current }: File): Archive | null => archiveOfText(versions.get(current) ?? '');

const BATCH_MOST = 6;
const BATCHES = ['delete', 'restore', 'restore', 'purge', 'move', 'move', 'copy', 'copy', 'grant', 'revoke'] as const;

function changeOf({ option, name, location: at }: Choice, people: readonly Person[], location: Folder | null): BatchChange {
  const operation = pick(BATCHES, option) ?? 'delete';
  const onConflict = at % 2 === 0 ? 'fail' : 'rename';
  const user = name % people.length;
  if (operation === 'move' || operation === 'copy') return { operation, location, onConflict };
  if (operation === 'grant') return { operation, user, level: pick(LEVELS, at) ?? 'read' };
  return operation === 'revoke' ? { operation, user } : { operation };
}

function differenceOf(served: ReadonlyMap<string, string>, modelled: ReadonlyMap<string, string>): string | null {
  const words = (outcomes: ReadonlyMap<string, string>): string =>
    JSON.stringify([...outcomes].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return words(served) === words(modelled) ? null : `${words(served)}; the model says ${words(modelled)}`;
}

/** Sends it and applies it to the model. What differs between the two, in words; null: nothing. */
export async function take(step: Step, person: Person): Promise<string | null> {
  const { status, body } = await step.send(person.api);
  const answer = status < 300 ? 'success' : `${status} ${body?.error}`;
  try {
    // Also where the server refused it, so that the difference has what the model says.
    const difference = step.apply(body ?? {});
    if (typeof difference === 'string') return difference;
    return status < 300 ? null : `${answer} (${body?.message}); the model allows it`;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return status >= 400 && body?.error === error.code ? null : `${answer} (${body?.message}); the model says ${error.code}`;
  }
}

const pathOf = ({ kind, id }: Item): string => `/${kind}s/${id}`;
const locationField = ({ kind }: Item): string => (kind === 'file' ? 'folder_id' : 'parent_id');
const grantPath = ({ item, id }: Grant): string => `${pathOf(item)}/permissions/${id}`;
const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
