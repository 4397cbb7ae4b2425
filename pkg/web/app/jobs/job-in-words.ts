import type { Job } from '../../api/operations.generated.ts';
import type { Tone } from '../../design/badge.tsx';
import type { IconName } from '../../design/icon.tsx';
import { count, t } from '../../text/jobs.ts';
import { locale } from '../../text/language.ts';
import { sizeInWords } from '../size-in-words.ts';

type Kind = Job['kind'];

/** What a job does, and to what where that is known: "Translate “report.pdf” into Spanish". */
export function titleOf(job: Job): string {
  const title = job.subject ? titleWith(job, job.subject.name) : plainTitleOf(job);
  return job.kind === 'batch' && job.result.dry_run ? t('trial', { title }) : title;
}

const plainTitleOf = (job: Job): string => (job.kind === 'batch' ? t(`batch.${job.result.operation}`) : t(`kind.${job.kind}`));

/** The other kinds whose jobs may have a subject. */
const NAMED = ['copy_folder', 'import', 'export', 'optimize', 'sync_roster'] as const;

function titleWith(job: Job, first: string): string {
  const more = job.kind === 'batch' || job.kind === 'export' ? Math.max(job.progress.total - 1, 0) : 0;
  const name = more === 0 ? t('quoted', { name: first }) : count('quotedMore', more, { name: first });
  if (job.kind === 'batch') return t(`about.${job.result.operation}`, { name });
  if (job.kind === 'translate') return t('about.translate', { name, language: languageInWords(job.target_language) });
  const kind = NAMED.find((each) => each === job.kind);
  return kind ? t(`about.${kind}`, { name }) : plainTitleOf(job);
}

/** A helper may take what is no language tag. */
function languageInWords(tag: string): string {
  try {
    return new Intl.DisplayNames(locale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

const ICONS: Readonly<Record<Kind, IconName>> = {
  empty_trash: 'trash',
  copy_folder: 'copy',
  batch: 'list',
  import: 'unpack',
  export: 'download',
  replay: 'webhook',
  optimize: 'settings',
  translate: 'translate',
  sync_roster: 'people',
  sync_rosters: 'people',
  recount_usage: 'plot',
  sweep_objects: 'storage',
  sweep_uploads: 'upload',
  apply_retention: 'versions',
  verify_checksums: 'check',
};
export const iconOf = ({ kind }: Job): IconName => ICONS[kind];

/** What jobs of a kind do, for lists that know no more of them, such as the audit log. */
export const kindInWords = (kind: string): string => (Object.hasOwn(ICONS, kind) ? t(`kind.${kind as Kind}`) : kind);

export const isActive = ({ ended_at }: Job): boolean => ended_at === null;

const TONES: Readonly<Record<Job['state'], Tone>> = {
  queued: 'neutral',
  running: 'accent',
  succeeded: 'success',
  failed: 'danger',
  canceled: 'warning',
};

/** The state of a job. One that has ended may have items that failed. */
export function stateOf({ state, progress }: Job): { readonly text: string; readonly tone: Tone } {
  if (state === 'succeeded' && progress.failed > 0) return { text: t('partly'), tone: 'warning' };
  return { text: t(`state.${state}`), tone: TONES[state] };
}

/** How much of an archive is read: its files appear when all of it is. Undefined if the job does not read one now. */
function readingOf(job: Job): { readonly bytes: number; readonly total_bytes: number } | undefined {
  const contents = job.kind === 'import' && isActive(job) ? job.result.contents : null;
  return contents && contents.bytes < contents.total_bytes ? contents : undefined;
}

/** How far a job is, for its bar: undefined if nobody knows. */
export function measureOf(job: Job): { readonly value: number; readonly max: number } | undefined {
  const { done, total } = job.progress;
  const read = readingOf(job);
  if (read) return { value: read.bytes, max: read.total_bytes };
  return total === 0 ? undefined : { value: done, max: total };
}

/** How far a job is: "3 of 12 items, 1 failed". Empty for a job without items. */
export function progressInWords(job: Job): string {
  const { done, total, failed, skipped } = job.progress;
  const read = readingOf(job);
  const parts = [
    read ? t('contents', { done: sizeInWords(read.bytes), total: sizeInWords(read.total_bytes) }) : '',
    !read && total > 0 ? count('of', total, { done }) : '',
    failed > 0 ? count('failed', failed) : '',
    skipped > 0 ? count('skipped', skipped) : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}
