import { useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { FileIcon } from '../design/file-icon.tsx';
import { fileKind } from '../design/file-kind.ts';
import { announce } from '../design/live-region.tsx';
import { FileSize } from '../design/measures.tsx';
import { useWhenOnline } from '../design/use-when-online.ts';
import { t } from '../text/share.ts';
import { type Link, save, type SharedFile } from './link.ts';
import { Preview, previewOf } from './preview.tsx';
import { ProblemNote } from './problem-note.tsx';
import { Terms } from './terms.tsx';

interface Props {
  readonly link: Link;
  readonly file: SharedFile;
  readonly name: string;
  readonly onRefused: (problem: ApiProblem) => Promise<void>;
}

/** A file: what it is, and its download. */
export function FileView({ link, file, name, onRefused }: Props) {
  const [left, setLeft] = useState(file.downloads_left);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  useWhenOnline(problem, () => setProblem(undefined));
  const preview = previewOf(file);
  const address = link.addressOf('download');

  const download = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await link.require(address);
      save(address);
      announce(t('started', { name }));
      setLeft((before) => (before === null ? null : before - 1));
    } catch (error) {
      setProblem(problemOf(error));
      await onRefused(problemOf(error));
    }
    setBusy(false);
  };

  return (
    <main class="share-card share-file">
      {preview === undefined ? (
        <FileIcon mimeType={file.mime_type} name={name} size="xl" />
      ) : (
        <Preview kind={preview} name={name} address={address} />
      )}
      <div>
        <h1 tabIndex={-1}>
          <bdi>{name}</bdi>
        </h1>
        <p class="share-facts">
          {t(`kind.${fileKind(file.mime_type, name)}`)}
          {file.size !== null && ' · '}
          {file.size !== null && <FileSize bytes={file.size} />}
        </p>
      </div>
      {problem && <ProblemNote problem={problem} />}
      <Button kind="primary" icon="download" isBusy={isBusy} disabled={left === 0} onClick={() => void download()}>
        {t('download')}
      </Button>
      <Terms end={file.expires_at} left={left} />
    </main>
  );
}
