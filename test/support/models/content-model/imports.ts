import { isDeepStrictEqual } from 'node:util';
import type { Api, ApiReply } from '../../clients/api.ts';
import { jobEnd } from '../../clients/batches.ts';
import { range } from '../../wait.ts';
import { zipBytes } from '../../data/zip-bytes.ts';
import type { ContentModel } from './content-model.ts';
import { alternative, type File, type Folder, type OnConflict, Refused } from './records.ts';

type Policy = 'fail' | 'rename' | 'replace' | 'skip';
export const POLICIES: readonly Policy[] = ['fail', 'rename', 'replace', 'skip'];

interface Entry {
  /** Its path in the archive. */
  readonly name: string;
  readonly text: string;
}

export interface Archive {
  readonly bytes: Buffer;
  readonly entries: readonly Entry[];
  /** The last one is a link, which shows before anything is stored, or has a wrong CRC-32, which shows when it is stored. */
  readonly fault: 'link' | 'crc' | null;
}

/** Paths of entries: several mean one file or folder here, some are adapted, some are of a system. */
const ENTRY_NAMES = [
  'a',
  'b',
  'b/',
  'b/a/',
  'b/c.txt',
  './b//c.txt',
  'a/b/notes.tar',
  'A',
  '\u00e9.txt',
  'e\u0301.txt',
  'c\u0007.txt',
  'c.txt',
  'c (1).txt',
  'a\\b',
  './',
  '.DS_Store',
  '__MACOSX/._a',
];
const ENTRIES_MOST = 6;
const TEXT_MOST = 60;

/** Archives by the texts of the files that hold them. */
const archives = new Map<string, Archive>();

/** An archive of a few entries that three numbers choose. */
export function chosenArchive({
  name,
  item,
  option,
}: {
  readonly name: number;
  readonly item: number;
  readonly option: number;
}): Archive {
  const entries = range(1 + (name % ENTRIES_MOST)).map((n) => {
    const path = ENTRY_NAMES[(name * (n + 1) + item * n + n) % ENTRY_NAMES.length] ?? '';
    return { name: path, text: /[/.]$/.test(path) ? '' : `${n}`.repeat((option * (n + 1)) % TEXT_MOST) };
  });
  const fault = option % 8 === 7 ? (name % 2 === 0 ? 'link' : 'crc') : null;
  const wrong = { link: { mode: 0o120777 }, crc: { local: { crc: 1 }, central: { crc: 1 } } };
  const bytes = zipBytes(
    entries.map((entry, at) => ({
      name: entry.name,
      content: entry.text,
      method: 0,
      ...(fault !== null && at === entries.length - 1 ? wrong[fault] : {}),
    })),
  );
  const archive: Archive = { entries, fault, bytes };
  archives.set(textOfArchive(archive), archive);
  return archive;
}

/** A character for each byte. */
export const textOfArchive = ({ bytes }: Archive): string => bytes.toString('latin1');
/** Null: the text of a file is none. */
export const archiveOfText = (text: string): Archive | null => archives.get(text) ?? null;

export interface ImportRequest {
  /** Null: the archive comes with the request. */
  readonly file: string | null;
  /** Null: the file is no archive. */
  readonly archive: Archive | null;
  readonly location: Folder | null;
  readonly onConflict: Policy;
  /** It is cancelled at once, and the worker comes as far as it comes. */
  readonly isCanceled: boolean;
}

type Outcome = readonly [name: string, outcome: string, path: string | null, isAdapted: boolean | null];

export interface EndedImport {
  readonly state: string;
  readonly code: string | null;
  readonly progress: { readonly total: number; readonly done: number; readonly failed: number; readonly skipped: number };
  readonly result: {
    readonly folder_id: string | null;
    readonly files: number;
    readonly folders: number;
    readonly bytes: number;
    readonly skipped: readonly object[];
    readonly contents: object | null;
  };
  readonly items: readonly Outcome[];
  /** Ids of files and folders by their kind and their path below the target. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Requests an import, and waits for its end. */
export async function sendImport(
  api: Api,
  { file, archive, location, onConflict, isCanceled }: ImportRequest,
): Promise<ApiReply> {
  const fields = { on_conflict: onConflict, ...(location ? { folder_id: location.id } : {}) };
  const reply =
    file === null
      ? await api.upload('/imports', { name: 'a.zip', file: archive?.bytes ?? Buffer.alloc(0), fields })
      : await api.post('/imports', { file_id: file, ...fields });
  if (reply.status !== 202) return reply;
  if (isCanceled) await api.post(`/jobs/${reply.body.id}/cancel`);
  const job = await jobEnd(api, reply.body.id);
  const { data } = (await api.get(`/jobs/${job.id}/items`, { query: { limit: 200 } })).body;
  const ended: EndedImport = {
    state: job.state,
    code: job.error?.code ?? null,
    progress: job.progress,
    result: job.result,
    items: data.map(outcomeOf),
    ids: await idsOf(api, location, data),
  };
  return { status: 200, headers: {}, bytes: Buffer.alloc(0), body: ended };
}

interface ServedItem {
  readonly target: { readonly name: string };
  readonly state: string;
  readonly error: { readonly code: string } | null;
  readonly reason: string | null;
  readonly result: {
    readonly type: 'file' | 'folder';
    readonly id: string;
    readonly path: string;
    readonly adapted: boolean;
  } | null;
}

const outcomeOf = ({ target, state, error, reason, result }: ServedItem): Outcome => [
  target.name,
  error?.code ?? reason ?? state,
  result?.path ?? null,
  result?.adapted ?? null,
];

const idKey = (kind: 'file' | 'folder', path: string): string => `${kind} ${path}`;

/** Also of the folders that no entry names. */
async function idsOf(api: Api, location: Folder | null, items: readonly ServedItem[]): Promise<Map<string, string>> {
  const ids = new Map(items.flatMap(({ result }) => (result ? [[idKey(result.type, result.path), result.id] as const] : [])));
  const folders = new Map([['', location?.id ?? 'root']]);
  for (const { result } of items) {
    const names = result?.path.split('/').slice(0, -1) ?? [];
    for (const [at, name] of names.entries()) {
      const [parent, path] = [names.slice(0, at).join('/'), names.slice(0, at + 1).join('/')];
      if (folders.has(path)) continue;
      const { data } = (await api.get(`/folders/${folders.get(parent)}/children`, { query: { limit: 200 } })).body;
      const found = data.find((child: { type: string; name: string }) => child.type === 'folder' && child.name === name);
      folders.set(path, found?.id ?? `no folder ${path}`);
      ids.set(idKey('folder', path), found?.id ?? `no folder ${path}`);
    }
  }
  return ids;
}

type Prediction = Omit<EndedImport, 'ids'>;

/**
 * Does it to the model; throws Refused where the request is. Gives what differs from what was served, in words; null: nothing.
 */
export function applyImport(model: ContentModel, actor: number, request: ImportRequest, ended: EndedImport): string | null {
  const archive = admitted(model, actor, request);
  const { ids: _, ...served } = ended;
  const modelled = new Import(model, actor, { ...request, archive }, ended).run();
  return isDeepStrictEqual(served, modelled) ? null : `${JSON.stringify(served)}; the model says ${JSON.stringify(modelled)}`;
}

/** The archive, where the request is not refused. */
function admitted(model: ContentModel, actor: number, { file, archive, location }: ImportRequest): Archive {
  const source = file === null ? null : model.items.get(file);
  if (source) model.require(actor, source, 'read');
  const free = model.quota - model.used(actor);
  if (archive === null) throw new Refused('archive_refused');
  if (file === null && archive.bytes.length > free) throw new Refused('quota_exceeded');
  if (location) model.require(actor, location, 'write');
  return archive;
}

interface Planned {
  readonly name: string;
  readonly text: string;
  /** Null: it is a system's. */
  readonly names: readonly string[] | null;
  readonly isFolder: boolean;
  readonly isAdapted: boolean;
}

const SYSTEM_FILE = /^(?:__MACOSX\/.*|(?:.*\/)?\.DS_Store)$/;

/** Returns the planned item of each entry. Of files with equal paths the later one gets a number. */
function plan(entries: readonly Entry[]): Planned[] {
  const separator = entries.some(({ name }) => name.includes('/')) ? '/' : '\\';
  const taken = new Set<string>();
  return entries.map(({ name, text }) => {
    if (SYSTEM_FILE.test(name)) return { name, text, names: null, isFolder: false, isAdapted: false };
    const given = name.split(separator);
    const isFolder = ['', '.'].includes(given.at(-1) ?? '');
    const parts = given.filter((part) => part !== '' && part !== '.').map((part) => part.normalize('NFC'));
    const names = parts.map((part) => part.replaceAll('\\', '-').replaceAll('\u0007', ''));
    const isAdapted = names.some((each, at) => each !== parts[at]);
    if (isFolder) return { name, text, names, isFolder, isAdapted };
    const pathOf = (attempt: number): string[] => [...names.slice(0, -1), alternative(names.at(-1) ?? '', attempt)];
    let attempt = 0;
    while (taken.has(pathOf(attempt).join('/'))) attempt += 1;
    taken.add(pathOf(attempt).join('/'));
    return { name, text, names: pathOf(attempt), isFolder, isAdapted: isAdapted || attempt > 0 };
  });
}

/** One import: the final state of its job and its items. */
class Import {
  readonly #model: ContentModel;
  readonly #actor: number;
  readonly #request: ImportRequest & { readonly archive: Archive };
  readonly #ended: EndedImport;
  readonly #items: Outcome[];
  readonly #planned: readonly Planned[];
  readonly #result = { files: 0, folders: 0, bytes: 0 };

  constructor(model: ContentModel, actor: number, request: ImportRequest & { readonly archive: Archive }, ended: EndedImport) {
    this.#model = model;
    this.#actor = actor;
    this.#request = request;
    this.#ended = ended;
    this.#planned = plan(request.archive.entries);
    this.#items = this.#planned.map(({ name, names }) => [name, names === null ? 'system_file' : 'queued', null, null]);
  }

  run(): Prediction {
    const { state } = this.#ended;
    const code = this.#refusal();
    if (state !== 'canceled') {
      if (code === null) this.#publish();
      else this.#fail(code);
      return this.#prediction(code === null ? 'succeeded' : 'failed', code);
    }
    if (!this.#request.isCanceled) return this.#prediction('not cancelled by anybody', null);
    // It came as far as it came: to no item, to all of them, to the refusal, or to the files.
    const { items } = this.#ended;
    const cameTo = items.map(([, outcome]) => outcome).filter((outcome) => outcome !== 'system_file' && outcome !== 'queued');
    if (items.length === 0) this.#items.length = 0;
    else if (cameTo.length > 0 && code !== null) this.#fail(code);
    else if (cameTo.length > 0) this.#publish();
    return this.#prediction('canceled', null);
  }

  #prediction(state: string, code: string | null): Prediction {
    const outcomes = this.#items.map(([, outcome]) => outcome);
    const skipped = outcomes.filter((outcome) => SKIPPED.includes(outcome));
    const done = outcomes.filter((outcome) => outcome !== 'queued').length;
    const failed = done - skipped.length - outcomes.filter((outcome) => outcome === 'succeeded').length;
    const progress = { done, total: outcomes.length, failed, skipped: skipped.length };
    const reasons = SKIPPED.filter((reason) => skipped.includes(reason)).map((reason) => ({
      reason,
      count: skipped.filter((each) => each === reason).length,
    }));
    return { state, code, progress, result: this.#counts(state === 'succeeded' ? reasons : []), items: this.#items };
  }

  #counts(skipped: readonly object[]): EndedImport['result'] {
    const [all, { contents }] = [this.#contents(), this.#ended.result];
    const [entries, bytes] = [all.length, all.reduce((sum, { text }) => sum + text.length, 0)];
    // An import that does not finish reports what it has read so far.
    const read = this.#ended.state === 'succeeded' ? { entries, total_entries: entries, bytes, total_bytes: bytes } : contents;
    return { folder_id: this.#request.location?.id ?? null, ...this.#result, skipped, contents: read };
  }

  /** Returns the files to store. */
  #contents(): readonly Planned[] {
    return this.#planned.filter(({ names, isFolder }) => names !== null && !isFolder);
  }

  #refusal(): 'archive_refused' | 'quota_exceeded' | null {
    const { archive, file } = this.#request;
    if (archive.fault === 'link') return 'archive_refused';
    const contents = this.#contents().reduce((sum, { text }) => sum + text.length, 0);
    const sent = file === null ? archive.bytes.length : 0;
    if (this.#model.used(this.#actor) + contents + sent > this.#model.quota) return 'quota_exceeded';
    const last = this.#planned.at(-1);
    return archive.fault === 'crc' && last?.names && !last.isFolder ? 'archive_refused' : null;
  }

  /** A link shows before there are items, a wrong content at its item. */
  #fail(code: string): void {
    const { fault } = this.#request.archive;
    if (fault === 'link') this.#items.length = 0;
    else if (code === 'archive_refused') this.#end(this.#items.length - 1, code);
  }

  #end(at: number, outcome: string, path: string | null = null, isAdapted: boolean | null = null): void {
    this.#items[at] = [this.#planned[at]?.name ?? '', outcome, path, isAdapted];
  }

  /** Files whose names are free come before the others. */
  #publish(): void {
    const parents = this.#planned.map(({ names, isFolder }) =>
      names === null ? null : this.#folder(isFolder ? names : names.slice(0, -1)),
    );
    for (const [at, { names, isFolder, isAdapted }] of this.#planned.entries())
      if (names !== null && isFolder) this.#folderEnded(at, names, isAdapted);
    const left = [...this.#planned.keys()].filter((at) => {
      const { names, isFolder } = this.#planned[at] as Planned;
      return names !== null && !isFolder && this.#file(at, parents[at] ?? null, 'fail') === 'name_conflict';
    });
    for (const at of left) {
      const { onConflict } = this.#request;
      const outcome = this.#file(at, parents[at] ?? null, onConflict === 'skip' ? 'fail' : onConflict);
      if (outcome !== null) this.#end(at, outcome === 'name_conflict' && onConflict === 'skip' ? 'exists' : outcome);
    }
  }

  /** Somebody's root has no id. */
  #folderEnded(at: number, names: readonly string[], isAdapted: boolean): void {
    if (names.length === 0 && this.#request.location === null) this.#end(at, 'succeeded');
    else this.#end(at, 'succeeded', names.join('/'), isAdapted);
  }

  #folder(names: readonly string[]): Folder | null {
    let parent = this.#request.location;
    for (const [at, name] of names.entries()) {
      const { folder, created } = this.#model.createFolder(this.#actor, name, parent?.id ?? null, 'reuse');
      const path = names.slice(0, at + 1).join('/');
      parent = created ? this.#add('folder', path, folder) : folder;
      if (created) this.#result.folders += 1;
    }
    return parent;
  }

  /** Returns why the entry is refused; null: it is not. */
  #file(at: number, parent: Folder | null, onConflict: OnConflict): string | null {
    const { names, text, isAdapted } = this.#planned[at] as Planned & { readonly names: readonly string[] };
    const wanted = names.at(-1) ?? '';
    try {
      const { file, created } = this.#model.upload(this.#actor, wanted, text, parent?.id ?? null, onConflict);
      const path = [...names.slice(0, -1), file.name].join('/');
      if (created) this.#add('file', path, file);
      this.#end(at, 'succeeded', path, isAdapted || file.name !== wanted);
      this.#result.files += 1;
      this.#result.bytes += text.length;
      return null;
    } catch (error) {
      if (error instanceof Refused) return error.code;
      throw error;
    }
  }

  #add<T extends File | Folder>(kind: T['kind'], path: string, made: T): T {
    const added = { ...made, id: this.#ended.ids.get(idKey(kind, path)) ?? `no ${kind} ${path}` };
    this.#model.items.set(added.id, added);
    return added;
  }
}

const SKIPPED = ['exists', 'system_file'];
