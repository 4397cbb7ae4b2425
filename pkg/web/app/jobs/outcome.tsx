import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { DateTime } from '../../design/measures.tsx';
import { t } from '../../text/jobs.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { outcomeInWords } from './outcome-in-words.ts';
import { folderAddress, isArchiveGone, webhookAddress } from './ways.ts';

/** What came of a job, and the way to it. */
export function Outcome({ job }: { readonly job: Job }) {
  const words = outcomeInWords(job);
  return (
    <>
      {words !== '' && <p>{words}</p>}
      <Way job={job} />
    </>
  );
}

function Way({ job }: { readonly job: Job }) {
  if (job.kind === 'import' || job.kind === 'copy_folder')
    return (
      <p>
        <LinkButton href={folderAddress(job.result.folder_id)} icon="folder">
          {t('showFolder')}
        </LinkButton>
      </p>
    );
  if (isArchiveGone(job)) return <p>{t('archiveGone')}</p>;
  if (job.kind === 'export' && job.result && job.state === 'succeeded')
    return (
      <p class="jobs-way">
        <LinkButton href={job.result.url} icon="download" kind="primary" isDownload>
          {t('download')}
        </LinkButton>
        {job.result.expires_at !== null && (
          <span class="jobs-quiet">
            {t('linkEnds')} <DateTime value={job.result.expires_at} />
          </span>
        )}
      </p>
    );
  if (job.kind === 'replay')
    return (
      <p>
        <LinkButton href={webhookAddress(job.result.webhook_id)} icon="webhook">
          {t('showWebhook')}
        </LinkButton>
      </p>
    );
  const isOfFile = job.kind === 'optimize' || job.kind === 'translate';
  return isOfFile && job.result ? <ToFile id={job.result.file_id} /> : null;
}

/** Goes to the folder of a file; where it is may have changed since. */
function ToFile({ id }: { readonly id: string }) {
  const client = useClient();
  const { route } = useLocation();
  const [problem, setProblem] = useState<ApiProblem>();
  const show = async (): Promise<void> => {
    try {
      const { folder } = await client.get('/files/{id}', { path: { id } });
      route(`${folderAddress(folder?.id ?? null)}?preview=${id}`);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <>
      <p>
        <Button icon="folder" onClick={() => void show()}>
          {t('showFile')}
        </Button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
