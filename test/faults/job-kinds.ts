import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import type { TestTenant } from '../support/programs/server.ts';

/** The items on which a round of jobs works. */
export interface Stage {
  /** Unique to the round. */
  readonly mark: string;
  readonly webhook: string;
  /** The user who gets grants. */
  readonly friend: string;
  /** A zip archive of three files, and an empty folder for them. */
  readonly archive: string;
  readonly unpacked: string;
  /** A PDF that an optimizer makes smaller; no other name begins with the stem of its own. */
  readonly pdf: { readonly id: string; readonly stem: string };
  /** A course of an LMS that has a roster. */
  readonly course: string;
  /** Ids of schedules whose time does not come, by their kinds. */
  readonly schedules: ReadonlyMap<string, string>;
  /** A folder with files that nobody else changes, and an empty one. */
  readonly folder: string;
  readonly empty: string;
  readonly sources: readonly string[];
  /** Files for the trash. */
  readonly spare: readonly string[];
  readonly tag: string;
  /** Items that the batch `copy` made, and items that the batch `delete` deleted. */
  copies: readonly string[];
  trashed: readonly string[];
}

/** A job that has ended, with what became of its items. */
export interface EndedJob {
  readonly id: string;
  readonly state: string;
  /** Code of what it failed by. */
  readonly error: string | null;
  readonly items: readonly {
    readonly target: string;
    readonly type: string;
    readonly state: string;
    readonly copy: string | null;
  }[];
}

interface Asked {
  readonly stage: Stage;
  readonly job: EndedJob;
  readonly targets: readonly string[];
  /** Id of the newest event before the request. */
  readonly before: number;
}

/** The number of times an item was done, by its target. Without a row: never. */
interface Done {
  readonly id: string;
  readonly n: number;
}

type Effect = (asked: Asked, tenant: TestTenant) => Promise<readonly Done[]>;

/** A kind of job that a soak requests, with how its truth is known. */
export interface JobKind {
  readonly name: string;
  /** POST unless set. */
  readonly method?: 'delete';
  path(stage: Stage): string;
  body?(stage: Stage): object;
  /** Records in the stage what the job left. */
  leaves?(stage: Stage, job: EndedJob): void;
  /** The kind of the items that `effect` counts; `file` unless set. */
  readonly items?: 'entry';
  /** Left out: its items do not say. */
  readonly effect?: Effect;
  /** Code of the error by which it may fail, having been tried as often as it must. */
  readonly mayFailBy?: 'helper_unavailable' | 'lms_failed';
}

/** Counts by a statement that returns `id` and `n`. */
const counted =
  (query: (asked: Asked) => readonly [sql: string, params: readonly unknown[]]): Effect =>
  (asked, { db }) =>
    db.query<Done>(...query(asked));

const events = (event: string, change?: string): Effect =>
  counted(({ targets, before }) => [
    `SELECT e.payload::jsonb -> 'data' ->> 'id' AS id, count(*)::int AS n FROM carrel.events e
     WHERE e.id > $1 AND e.event = '${event}' AND e.payload::jsonb -> 'data' ->> 'id' = ANY ($2::text[])
       ${change === undefined ? '' : `AND e.payload::jsonb -> 'data' -> 'changes' ? '${change}'`} GROUP BY 1`,
    [before, targets],
  ]);

/** Files that have something, by rows that are joined to `f`. */
const having = (joined: string, of: (stage: Stage) => readonly unknown[] = () => []): Effect =>
  counted(({ stage, targets }) => [
    `SELECT f.uuid::text AS id, count(*)::int AS n FROM files f ${joined} WHERE f.uuid::text = ANY ($1::text[]) GROUP BY 1`,
    [targets, ...of(stage)],
  ]);

/** Files that have the name of a source, in the folder of its copy, whether an item knows them or not. */
const copied = (into: (stage: Stage) => string | null): Effect =>
  counted(({ stage, job }) => [
    `SELECT i.target::text AS id, count(f.id)::int AS n FROM task_items i JOIN tasks t ON t.id = i.task_id
       LEFT JOIN folders d ON d.uuid = coalesce(i.copy_in, $2::uuid)
       LEFT JOIN files f ON f.folder_id = d.id AND f.name = i.target_name
     WHERE t.uuid = $1 AND i.target_type = 'file' GROUP BY 1`,
    [job.id, into(stage)],
  ]);

const gone = counted(({ targets }) => [
  'SELECT u.id, (NOT EXISTS (SELECT FROM files f WHERE f.uuid = u.id::uuid))::int AS n FROM unnest($1::text[]) u (id)',
  [targets],
]);

/** Entries of the job's archive that have the name and the bytes of an item's file. */
const archived: Effect = async ({ job }, { db, objects }) => {
  const found: string[] = [];
  const isEntry = ({ name, sha256 }: { name: string; sha256: string }): string => `${name} ${sha256}`;
  for (const { key } of await db.query<{ key: string }>('SELECT key FROM exports WHERE uuid = $1', [job.id])) {
    const zip = await fromBufferPromise(await buffer((await objects.get(key)).body), { lazyEntries: true });
    for await (const entry of zip.eachEntry()) {
      const content = await buffer(await zip.openReadStreamPromise(entry));
      found.push(isEntry({ name: entry.fileName, sha256: createHash('sha256').update(content).digest('hex') }));
    }
  }
  const items = await db.query<{ id: string; name: string; sha256: string }>(
    `SELECT i.target::text AS id, i.target_name AS name, f.checksum AS sha256
     FROM task_items i JOIN tasks t ON t.id = i.task_id JOIN files f ON f.uuid = i.target WHERE t.uuid = $1`,
    [job.id],
  );
  return items.map((item) => ({ id: item.id, n: found.filter((entry) => entry === isEntry(item)).length }));
};

const copies = (stage: Stage): readonly string[] => stage.copies;
const sources = (stage: Stage): readonly string[] => stage.sources;
const spare = (stage: Stage): readonly string[] => stage.spare;

const batch = (
  operation: string,
  of: (stage: Stage) => readonly string[],
  effect: Effect,
  given?: (stage: Stage) => object,
): JobKind => ({
  name: `batch ${operation}`,
  path: () => '/batch',
  body: (stage) => ({
    operation,
    items: of(stage).map((id) => ({ type: 'file', id })),
    ...(given ? { arguments: given(stage) } : {}),
  }),
  effect,
});

const ofCopies: readonly JobKind[] = [
  {
    name: 'copy_folder',
    path: ({ folder }) => `/folders/${folder}/copy`,
    body: ({ mark }) => ({ parent_id: null, name: `copy of ${mark}`, on_conflict: 'rename' }),
    effect: copied(() => null),
  },
  {
    ...batch(
      'copy',
      sources,
      copied(({ empty }) => empty),
      ({ empty }) => ({ folder_id: empty }),
    ),
    leaves: (stage, { items }) => {
      stage.copies = items.flatMap(({ copy }) => copy ?? []);
    },
  },
  batch(
    'tag',
    copies,
    having('JOIN file_tags l ON l.file_id = f.id JOIN tags t ON t.id = l.tag_id AND t.uuid = $2', ({ tag }) => [tag]),
    ({ tag }) => ({ tag_id: tag }),
  ),
  batch('set_metadata', copies, having('JOIN file_metadata m ON m.file_id = f.id'), ({ mark }) => ({ key: mark, value: 'v' })),
  batch('share', copies, having('JOIN shares s ON s.file_id = f.id'), () => ({})),
  batch('grant', copies, having(`JOIN permissions p ON p.resource_type = 'file' AND p.resource_id = f.id`), ({ friend }) => ({
    user_id: friend,
    permission_level: 'read',
  })),
  batch('move', copies, events('file.updated', 'folder'), ({ folder }) => ({ folder_id: folder, on_conflict: 'rename' })),
  batch('purge', copies, events('file.deleted')),
];

const ofArchivesAndPdfs: readonly JobKind[] = [
  {
    name: 'export',
    path: () => '/exports',
    body: ({ archive, pdf }) => ({ items: [archive, pdf.id].map((id) => ({ type: 'file', id })) }),
    effect: archived,
  },
  {
    name: 'optimize',
    path: ({ pdf }) => `/files/${pdf.id}/optimize`,
    body: () => ({}),
    effect: events('file.updated', 'content'),
    mayFailBy: 'helper_unavailable',
  },
  {
    name: 'translate',
    path: ({ pdf }) => `/files/${pdf.id}/translate`,
    body: () => ({ target_language: 'es', source_language: 'en' }),
    effect: counted(({ stage: { pdf }, before }) => [
      `SELECT $1::text AS id, count(*)::int AS n FROM carrel.events e
       WHERE e.id > $2 AND e.event = 'file.created' AND starts_with(e.payload::jsonb -> 'data' ->> 'name', $3)`,
      [pdf.id, before, pdf.stem],
    ]),
    mayFailBy: 'helper_unavailable',
  },
  {
    name: 'import',
    path: () => '/imports',
    body: ({ archive, unpacked }) => ({ file_id: archive, folder_id: unpacked }),
    items: 'entry',
    effect: counted(({ stage, job }) => [
      `SELECT i.target::text AS id, count(f.id)::int AS n FROM task_items i JOIN tasks t ON t.id = i.task_id
       JOIN folders d ON d.uuid = $2
         LEFT JOIN files f ON f.folder_id = d.id AND f.name = i.target_name WHERE t.uuid = $1 GROUP BY 1`,
      [job.id, stage.unpacked],
    ]),
  },
];

const ofTheTrash: readonly JobKind[] = [
  {
    ...batch('delete', spare, events('file.deleted')),
    leaves: (stage, { items }) => {
      stage.trashed = items.filter(({ state }) => state === 'succeeded').map(({ target }) => target);
    },
  },
  // Restoring a live item would change nothing, and succeed.
  batch('restore', ({ trashed }) => trashed, events('file.updated', 'restored')),
  batch('delete', ({ trashed }) => trashed, events('file.deleted')),
  { name: 'empty_trash', method: 'delete', path: () => '/trash', effect: gone },
];

/** Kinds that a schedule runs, now. */
export const SCHEDULED_KINDS = [
  'recount_usage',
  'sweep_objects',
  'sweep_uploads',
  'apply_retention',
  'verify_checksums',
  'sync_rosters',
] as const;

const ofSchedulesAndWebhooks: readonly JobKind[] = [
  ...SCHEDULED_KINDS.map((kind): JobKind => ({ name: kind, path: ({ schedules }) => `/schedules/${schedules.get(kind)}/run` })),
  // An LMS gives no token while it cannot read our keys.
  { name: 'sync_roster', path: ({ course }) => `/lti/contexts/${course}/members/sync`, mayFailBy: 'lms_failed' },
  {
    name: 'replay',
    path: ({ webhook }) => `/webhooks/${webhook}/replays`,
    body: () => ({ since: new Date(Date.now() - 30_000).toISOString(), until: new Date().toISOString() }),
  },
];

/** In any order; within one, each kind works on what those before it have left. A kind that is new is an entry here. */
export const JOB_CHAINS: readonly (readonly JobKind[])[] = [ofCopies, ofArchivesAndPdfs, ofTheTrash, ofSchedulesAndWebhooks];
