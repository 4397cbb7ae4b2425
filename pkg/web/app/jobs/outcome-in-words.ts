import type { Job } from '../../api/operations.generated.ts';
import { count, t } from '../../text/jobs.ts';
import { sizeInWords } from '../size-in-words.ts';

/** What came of a job that has succeeded; empty where there is nothing to say. */
export function outcomeInWords(job: Job): string {
  if (job.state !== 'succeeded') return '';
  switch (job.kind) {
    case 'batch':
      if (job.result.dry_run) return t('dryRun');
      return job.result.bytes > 0
        ? count('purged', job.progress.done - job.progress.failed, { size: sizeInWords(job.result.bytes) })
        : '';
    case 'import':
      return count('imported', job.result.files);
    case 'export':
      return job.result ? sizeInWords(job.result.size) : '';
    case 'optimize':
      if (!job.result) return '';
      if (!job.result.kept) return t('notSmaller');
      return t('smaller', { after: sizeInWords(job.result.size_after), before: sizeInWords(job.result.size_before) });
    case 'translate':
      return job.result && job.result.version_number > 1 ? t('versionMade', { number: job.result.version_number }) : '';
    case 'sync_roster':
      return job.result ? t('roster', numbersIn(job.result)) : '';
    case 'sync_rosters':
      return job.result ? t('rosters', job.result) : '';
    case 'recount_usage':
      return job.result ? t('corrected', { number: job.result.corrected }) : '';
    case 'sweep_objects':
    case 'sweep_uploads':
      return job.result ? t('deleted', { number: job.result.deleted }) : '';
    case 'apply_retention':
      return job.result ? t('versionsDeleted', { number: job.result.files }) : '';
    case 'replay':
      // What it counts is deliveries, of which each event has one.
      return job.progress.done === 0 ? t('replayedNone') : count('replayed', job.progress.done);
    case 'verify_checksums':
      return job.result ? t('verified', job.result) : '';
    case 'empty_trash':
    case 'copy_folder':
      return '';
    default:
      return job satisfies never;
  }
}

const numbersIn = ({ members, added, changed, removed }: Record<'members' | 'added' | 'changed' | 'removed', number>) => ({
  members,
  added,
  changed,
  removed,
});
