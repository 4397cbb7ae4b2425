import type { ScheduledBatch } from '../../../api/operations.generated.ts';
import type { Folder } from './folder-field.tsx';

export const OPERATIONS = ['delete', 'move', 'tag', 'untag'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The media types that the form offers; '' is any. */
export const TYPES = ['', 'image/*', 'video/*', 'audio/*', 'application/pdf', 'text/*'] as const;
export type MediaType = (typeof TYPES)[number];

/** What the form has in place of a batch: files of one folder, and what is done with them. */
export interface BatchDraft {
  readonly operation: Operation;
  readonly folder: Folder | undefined;
  /** Part of the name; '' is any. */
  readonly name: string;
  readonly type: MediaType;
  /** The id of a tag that the files have; '' is any or none. */
  readonly having: string;
  /** Of `move`. */
  readonly destination: Folder | undefined;
  /** Of `move`: what happens where the name is taken. */
  readonly onConflict: 'fail' | 'rename';
  /** Of `tag` and `untag`: the id of the tag; '' is none yet. */
  readonly tag: string;
}

export const NEW_BATCH: BatchDraft = {
  operation: 'delete',
  folder: undefined,
  name: '',
  type: '',
  having: '',
  destination: undefined,
  onConflict: 'rename',
  tag: '',
};

/** Returns the batch of a draft; undefined while something is missing. */
export function batchOf(draft: BatchDraft): ScheduledBatch | undefined {
  const { operation, folder, name, type, having, destination, onConflict, tag } = draft;
  if (!folder) return undefined;
  const filter = {
    folder_id: folder.id,
    ...(name.trim() === '' ? {} : { q: name.trim() }),
    ...(type === '' ? {} : { mime_type: type }),
    ...(having === '' ? {} : { tag: [having] }),
  };
  if (operation === 'delete') return { operation, filter };
  if (operation !== 'move') return tag === '' ? undefined : { operation, filter, arguments: { tag_id: tag } };
  return destination && { operation, filter, arguments: { folder_id: destination.id, on_conflict: onConflict } };
}

type Fields = Readonly<Record<string, unknown>>;
const FILTERS: ReadonlySet<string> = new Set(['folder_id', 'q', 'mime_type', 'tag']);
/** Tags may also be given by their names, which the form does not know. */
const ID = /^[0-9a-f-]{36}$/i;

/** Returns the draft of a batch; undefined for one that says more than the form can. */
export function draftOf(batch: Fields): BatchDraft | undefined {
  const operation = OPERATIONS.find((each) => each === batch['operation']);
  const filter = fieldsOf(batch['filter']);
  const given = fieldsOf(batch['arguments']);
  if (!operation || batch['dry_run'] === true || Object.keys(filter).some((key) => !FILTERS.has(key))) return undefined;
  const type = TYPES.find((each) => each === (filter['mime_type'] ?? ''));
  const tags = Array.isArray(filter['tag']) ? (filter['tag'] as unknown[]).map(String) : [];
  const folder = textOf(filter['folder_id']);
  if (type === undefined || tags.length > 1 || ![folder, ...tags].every((id) => ID.test(id))) return undefined;
  const destination = textOf(given['folder_id']);
  // The root is no folder that can be chosen.
  if (operation === 'move' && destination === '') return undefined;
  return {
    operation,
    folder: { id: folder },
    name: textOf(filter['q']),
    type,
    having: tags[0] ?? '',
    destination: destination === '' ? undefined : { id: destination },
    onConflict: operation === 'move' && given['on_conflict'] !== 'rename' ? 'fail' : 'rename',
    tag: textOf(given['tag_id']),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
