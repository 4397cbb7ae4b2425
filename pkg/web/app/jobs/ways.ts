import type { Job, JobItem, JobSubject } from '../../api/operations.generated.ts';
import { t } from '../../text/jobs.ts';

/** The address of a folder; null: of one's own files. */
export const folderAddress = (id: string | null): string => (id === null ? '/files' : `/files/${id}`);

/** Shows a file over the page of a job. */
const fileAddress = ({ id }: Pick<Job, 'id'>, file: string): string => `/jobs/${id}?preview=${file}`;

export const webhookAddress = (id: string): string => `/admin/webhooks/${id}`;

interface Way {
  readonly href: string;
  readonly label: string;
  readonly isDownload?: boolean;
}

/** Says whether an export's archive has been deleted by now. */
export const isArchiveGone = (job: Job): boolean =>
  job.kind === 'export' && job.result?.expires_at != null && Date.parse(job.result.expires_at) <= Date.now();

/** The way to what came of a job; undefined if nothing did, not yet, or no longer. */
export function wayOf(job: Job): Way | undefined {
  if (job.kind === 'import' || job.kind === 'copy_folder')
    return { href: folderAddress(job.result.folder_id), label: t('showFolder') };
  if (job.kind === 'export') {
    if (job.state !== 'succeeded' || !job.result || isArchiveGone(job)) return undefined;
    return { href: job.result.url, label: t('download'), isDownload: true };
  }
  if (job.kind === 'optimize' || job.kind === 'translate')
    return job.result ? { href: fileAddress(job, job.result.file_id), label: t('showFile') } : undefined;
  if (job.kind === 'sync_roster' && job.subject) return { href: `/courses/${job.subject.id}`, label: t('showCourse') };
  if (job.kind === 'replay') return { href: webhookAddress(job.result.webhook_id), label: t('showWebhook') };
  return undefined;
}

/** What is deleted opens nowhere. */
const isGone = (job: Job): boolean =>
  job.kind === 'empty_trash' || (job.kind === 'batch' && !job.result.dry_run && /^(?:delete|purge)$/.test(job.result.operation));

/** The address of what a job is about; undefined if the job has deleted it. */
export function subjectAddress(job: Job, { type, id }: JobSubject): string | undefined {
  if (isGone(job)) return undefined;
  if (type === 'course') return `/courses/${id}`;
  return type === 'folder' ? folderAddress(id) : fileAddress(job, id);
}

/** The address of what an item is about, or of what it became. */
export function itemAddress(job: Job, { target, result, error }: JobItem): string | undefined {
  if (isGone(job) || target.name === null || error?.code === 'not_found') return undefined;
  const made = result && 'path' in result ? result : undefined;
  const id = made?.id ?? (result && 'copy_id' in result ? result.copy_id : target.id);
  const type = made?.type ?? target.type;
  // An entry of an archive that became nothing.
  if (type === 'entry') return undefined;
  return type === 'folder' ? folderAddress(id) : fileAddress(job, id);
}
