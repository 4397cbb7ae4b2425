import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api, FileItem } from './api.ts';
import type { Failed } from './loaded.ts';
import { type Refusal, sizeInWords } from './messages.ts';
import { RefusalNote } from './notes.tsx';

/** Bytes of a text that are shown. */
const TEXT_MAX = 20_000;

interface Props {
  readonly api: Api;
  readonly file: FileItem;
  readonly failed: Failed;
  readonly onClose: () => void;
}

/** A file in a dialog: pictures, recordings and texts; of others what is known. Nothing of a file runs: a text is shown as such, whatever it is. */
export function Preview({ api, file, failed, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [url, setUrl] = useState<string>();
  const [refusal, setRefusal] = useState<Refusal>();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => void api.ticket(file.id).then(setUrl, (error: unknown) => setRefusal(failed(error))), [api, file.id, failed]);

  return (
    <dialog ref={dialog} aria-labelledby="preview-heading" onClose={onClose}>
      <h2 id="preview-heading">{file.name}</h2>
      <p class="facts">
        {file.mime_type ?? 'unknown type'}, {sizeInWords(file.size)}
      </p>
      {refusal && <RefusalNote refusal={refusal} />}
      {url && <Content api={api} file={file} url={url} />}
      <form method="dialog">
        <button type="submit">Close preview</button>
        {url && (
          <a href={url} download="">
            Download
          </a>
        )}
      </form>
    </dialog>
  );
}

function Content({ api, file, url }: { api: Api; file: FileItem; url: string }) {
  const type = file.mime_type ?? '';
  if (type.startsWith('image/')) return <img src={url} alt={`Preview of ${file.name}`} />;
  if (type.startsWith('audio/')) return <audio src={url} controls aria-label={file.name} />;
  if (type.startsWith('video/')) return <video src={url} controls aria-label={file.name} />;
  if (type.startsWith('text/') || type === 'application/json') return <Text api={api} url={url} />;
  return <p>This type of file has no preview. Download it to look at it.</p>;
}

function Text({ api, url }: { api: Api; url: string }) {
  const [text, setText] = useState<string>();
  useEffect(() => void api.beginning(url, TEXT_MAX).then(setText, () => setText('')), [api, url]);
  // What is longer than its box must scroll by keyboard.
  return <pre tabIndex={0}>{text ?? 'Loading …'}</pre>;
}
