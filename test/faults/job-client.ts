import type { TestTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { pdf } from '../support/fakes/helpers/pdf.ts';
import { zipBytes } from '../support/data/zip-bytes.ts';
import type { ChangeLog } from './change-log.ts';
import { type EndedJob, JOB_CHAINS, type JobKind, type Stage } from './job-kinds.ts';
import { type Account, expectStatus, PatientClient } from './patient-client.ts';
import type { Seeded } from './seeded.ts';

/** From its request on a job has ended within this, whatever breaks meanwhile: errors in a row may have it wait a minute each. */
const JOB_MS = 900_000;
const FILES = 5;
const SPARE_FILES = 2;
/** The bytes of a comment that an optimizer removes. */
const PADDING = 40_000;
/** The percentage of jobs that are cancelled at some time. */
const CANCELED_PERCENT = 15;
const CANCEL_WITHIN_MS = 1_500;

/** The jobs of a soak, and what was wrong with them. */
export class JobLog {
  readonly wanted: number;
  readonly faults: string[] = [];
  /** The number of jobs that ended, by kind and state. */
  readonly ended = new Map<string, number>();
  #begun = 0;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  begin(): boolean {
    if (this.#begun === this.wanted) return false;
    this.#begun += 1;
    return true;
  }

  get count(): number {
    return [...this.ended.values()].reduce((sum, each) => sum + each, 0);
  }
}

/** Things that all rounds of jobs share. */
type Given = Pick<Stage, 'webhook' | 'friend' | 'schedules' | 'course'>;

/** Somebody who requests jobs of all kinds, one after the other, cancels some, and compares what they say with the tables. */
export class JobClient {
  readonly #name: string;
  readonly #client: PatientClient;
  readonly #tenant: TestTenant;
  readonly #random: Seeded;
  readonly #jobs: JobLog;
  readonly #changes: ChangeLog;
  readonly #userId: string;
  readonly #given: Given;
  readonly #kinds: readonly JobKind[];
  #count = 0;

  constructor(options: {
    name: string;
    url: string;
    account: Account;
    /** uuid of the account. */
    userId: string;
    tenant: TestTenant;
    random: Seeded;
    jobs: JobLog;
    changes: ChangeLog;
    given: Given;
    /** The chain of kinds that it begins with. */
    first: number;
  }) {
    this.#name = options.name;
    this.#client = new PatientClient({ ...options, log: options.changes });
    this.#tenant = options.tenant;
    this.#random = options.random;
    this.#jobs = options.jobs;
    this.#changes = options.changes;
    this.#userId = options.userId;
    this.#given = options.given;
    this.#kinds = JOB_CHAINS.flatMap((_, at) => JOB_CHAINS[(options.first + at) % JOB_CHAINS.length] ?? []);
  }

  /** Until all jobs that are wanted have begun. */
  async work(): Promise<void> {
    for (;;) {
      let stage: Stage | undefined;
      for (const kind of this.#kinds) {
        if (!this.#jobs.begin()) return;
        stage ??= await this.#stage();
        await this.#run(kind, stage);
      }
    }
  }

  async #stage(): Promise<Stage> {
    const mark = this.#newName();
    const folder = await this.#folder(mark);
    const empty = await this.#folder(`empty ${mark}`);
    const [sources, spare]: [string[], string[]] = [[], []];
    for (const n of range(FILES)) {
      sources.push(
        await this.#upload({ file: Buffer.from(`${mark} ${n}`), name: `${mark}-${n}`, fields: { folder_id: folder } }),
      );
    }
    for (const n of range(SPARE_FILES))
      spare.push(await this.#upload({ file: Buffer.from(`${mark} spare ${n}`), name: `${mark}-spare-${n}` }));
    const files = range(3).map((n) => ({ name: `${mark}-entry-${n}`, content: `${mark} entry ${n}` }));
    const archive = await this.#upload({ file: zipBytes(files), name: `${mark}.zip` });
    const unpacked = await this.#folder(`unpacked ${mark}`);
    const made = {
      folder,
      empty,
      sources,
      spare,
      archive,
      unpacked,
      pdf: await this.#pdf(`${mark}-thesis`),
      tag: await this.#tag(),
    };
    return { ...this.#given, ...made, mark, copies: [], trashed: [] };
  }

  async #pdf(stem: string): Promise<Stage['pdf']> {
    const file = pdf({ text: 'The teacher reads a book.', padding: PADDING });
    return { id: await this.#upload({ file, name: `${stem}.pdf` }), stem };
  }

  /** Uploads a file. An earlier upload whose answer was lost may exist; then this one gets another name. */
  async #upload({ fields = {}, ...upload }: { file: Buffer; name: string; fields?: Record<string, string> }): Promise<string> {
    const { reply } = await this.#insist('an upload', (api, headers) =>
      api.upload('/files', { ...upload, fields: { ...fields, on_conflict: 'rename' }, headers }),
    );
    expectStatus('an upload', reply, 201);
    return reply.body.id;
  }

  async #folder(name: string): Promise<string> {
    const { reply } = await this.#insist('a folder', (api, headers) =>
      api.post('/folders', { name, on_conflict: 'rename' }, { headers }),
    );
    expectStatus('a folder', reply, 201);
    return reply.body.id;
  }

  /** Makes a tag. An earlier one whose answer was lost may exist; then this one gets another name. */
  async #tag(): Promise<string> {
    for (;;) {
      const name = this.#newName();
      const { reply, isDoubtful } = await this.#insist('a tag', (api, headers) => api.post('/tags', { name }, { headers }));
      if (isDoubtful && reply.status === 409) continue;
      expectStatus('a tag', reply, 201);
      return reply.body.id;
    }
  }

  async #run(kind: JobKind, stage: Stage): Promise<void> {
    const body = kind.body?.(stage);
    // Earlier ones were cancelled, so that nothing is there to do anything with.
    if (body && 'items' in body && (body.items as unknown[]).length === 0) return this.#counted(kind, 'without items');
    const before = await this.#newestEvent();
    const { reply, isDoubtful } = await this.#insist(`a job ${kind.name}`, (api, headers) =>
      kind.method === 'delete' ? api.delete(kind.path(stage), { headers }) : api.post(kind.path(stage), body, { headers }),
    );
    // The run that an answer was lost of is under way, and a schedule has one at a time.
    if (isDoubtful && reply.status === 409) return this.#counted(kind, 'with its answer lost');
    expectStatus(`a job ${kind.name}`, reply, 202);
    const id: string = reply.body.id;
    const isCanceled = this.#random.between(1, 100) <= CANCELED_PERCENT && (await this.#cancel(id));
    const job = await this.#end(id);
    kind.leaves?.(stage, job);
    const faults = [
      ...stateFaults(kind, job, isCanceled),
      ...(isDoubtful ? [] : await this.#effectFaults(kind, stage, job, before)),
    ];
    this.#jobs.faults.push(...faults.map((fault) => `${this.#name}: ${kind.name} ${id}: ${fault}`));
    this.#counted(kind, job.state);
  }

  #counted({ name }: JobKind, state: string): void {
    const key = `${name} ${state}`;
    this.#jobs.ended.set(key, (this.#jobs.ended.get(key) ?? 0) + 1);
  }

  async #cancel(id: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, CANCEL_WITHIN_MS)));
    const { reply, isDoubtful } = await this.#insist('a cancellation', (api, headers) =>
      api.post(`/jobs/${id}/cancel`, undefined, { headers }),
    );
    return reply.status === 202 || isDoubtful;
  }

  /** Waits for all jobs of this client, also for one whose request was answered, and lost, before. */
  async #end(id: string): Promise<EndedJob> {
    const { db } = this.#tenant;
    const unfinished = () =>
      db.query('SELECT FROM tasks t JOIN users u ON u.id = t.user_id WHERE u.uuid = $1 AND t.ended_at IS NULL', [this.#userId]);
    await waitFor(`the end of ${id}`, async () => this.#changes.isAbandoned || (await unfinished()).length === 0, JOB_MS).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${await this.#whatIsLeft()}`, { cause: error.cause });
      },
    );
    return waitFor('the items', async () => {
      const [task] = await db.query<Pick<EndedJob, 'state' | 'error'>>(
        'SELECT state, error_code AS error FROM tasks WHERE uuid = $1',
        [id],
      );
      const items = await db.query<EndedJob['items'][number]>(
        `SELECT i.target::text AS target, i.target_type AS type, i.state, coalesce(i.result ->> 'copy_id', i.copy::text) AS copy
         FROM task_items i JOIN tasks t ON t.id = i.task_id WHERE t.uuid = $1`,
        [id],
      );
      return {
        id,
        state: task?.state ?? 'gone',
        error: task?.error ?? null,
        items: items.map((item) => ({ ...item, copy: item.state === 'succeeded' ? item.copy : null })),
      };
    });
  }

  /** Tasks of this client that have not ended, each with what the worker has of it. */
  async #whatIsLeft(): Promise<string> {
    const rows = await this.#tenant.db.query(
      `SELECT t.kind, t.uuid, t.state, t.total, t.done, t.failed, t.cursor, w.attempts, w.last_error, w.due_at - now() AS due_in,
         w.leased_until - now() AS leased_for
       FROM tasks t JOIN users u ON u.id = t.user_id LEFT JOIN carrel.work w ON w.payload ->> 'task' = t.uuid::text
       WHERE u.uuid = $1 AND t.ended_at IS NULL`,
      [this.#userId],
    );
    return JSON.stringify(rows);
  }

  async #effectFaults(kind: JobKind, stage: Stage, job: EndedJob, before: number): Promise<string[]> {
    const { effect } = kind;
    if (!effect) return [];
    const files = job.items.filter(({ type }) => type === (kind.items ?? 'file'));
    const asked = { stage, job, before, targets: files.map(({ target }) => target) };
    const rows = await waitFor('what was done', () => effect(asked, this.#tenant));
    const done = new Map(rows.map(({ id, n }) => [id, n]));
    return files
      .filter(({ target, state }) => (done.get(target) ?? 0) !== (state === 'succeeded' ? 1 : 0))
      .map(({ target, state }) => `the item ${target} is ${state}, and was done ${done.get(target) ?? 0} times`);
  }

  #newestEvent(): Promise<number> {
    return waitFor('the newest event', async () => {
      const [row] = await this.#tenant.db.query<{ id: number }>('SELECT coalesce(max(id), 0)::bigint AS id FROM carrel.events');
      return row?.id;
    });
  }

  #insist(what: string, send: Parameters<PatientClient['insist']>[2]) {
    this.#count += 1;
    return this.#client.insist(what, `${this.#name}-${this.#count}`, send);
  }

  #newName(): string {
    this.#count += 1;
    return `${this.#name}-${this.#count}`;
  }
}

function stateFaults({ mayFailBy }: JobKind, { state, error, items }: EndedJob, isCanceled: boolean): string[] {
  const left = items.filter((item) => item.state === 'queued').length;
  const isRight =
    state === 'succeeded' ||
    (state === 'canceled' && isCanceled) ||
    (state === 'failed' && mayFailBy !== undefined && error === mayFailBy);
  return [
    ...(isRight ? [] : [`is ${state}${error === null ? '' : ` by ${error}`}`]),
    ...(state === 'succeeded' && left > 0 ? [`is over, and ${left} items are queued`] : []),
  ];
}
