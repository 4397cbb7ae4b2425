import { getDocument, PasswordResponses, type PDFDocumentLoadingTask, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../design/button.tsx';
import { PasswordField } from '../../../design/password-field.tsx';
import { t } from '../../../text/preview.ts';
import { PdfPages } from './pdf-pages.tsx';

/** Asks the page for a part of pdf.js; null if there is no such part. */
type Needs = (name: string) => Promise<ArrayBuffer | null>;

interface Props {
  /** Of the file. */
  readonly name: string;
  readonly bytes: ArrayBuffer;
  readonly needs: Needs;
  readonly onLink: (href: string) => void;
  readonly onShown: () => void;
  readonly onBroken: () => void;
}

type State =
  | { readonly name: 'opening' }
  | { readonly name: 'locked'; readonly unlock: (password: string) => void; readonly wrong: number }
  | { readonly name: 'open'; readonly pdf: PDFDocumentProxy };

/** A PDF. Its scripts are not run: the part of pdf.js that could is not there. */
export function Pdf({ name, bytes, needs, onLink, onShown, onBroken }: Props) {
  const [state, setState] = useState<State>({ name: 'opening' });
  useEffect(() => {
    const open = async (): Promise<void> => {
      const task = opened(bytes, await workerOfFrame(), needs);
      let wrong = 0;
      task.onPassword = (unlock: (password: string) => void, reason: number) => {
        if (reason === PasswordResponses.INCORRECT_PASSWORD) wrong += 1;
        setState({ name: 'locked', unlock, wrong });
        onShown();
      };
      setState({ name: 'open', pdf: await task.promise });
      onShown();
    };
    open().catch(onBroken);
  }, []);

  if (state.name === 'open') return <PdfPages name={name} pdf={state.pdf} onLink={onLink} />;
  return state.name === 'locked' ? <PasswordQuestion key={state.wrong} {...state} /> : null;
}

/**
 * Asks for the password. `wrong`: how many were wrong; each gets a new field. It is no `<form>`, since the frame's sandbox
 * submits none.
 */
function PasswordQuestion({ unlock, wrong }: { readonly unlock: (password: string) => void; readonly wrong: number }) {
  const [password, setPassword] = useState('');
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.querySelector('input')?.focus(), []);
  const press = ({ key, target }: KeyboardEvent): void => {
    if (key === 'Enter' && (target as Element).matches('input')) unlock(password);
  };
  return (
    <main class="pdf-locked">
      <div ref={box} role="group" aria-label={t('locked')} onKeyDown={press}>
        <h1>{t('locked')}</h1>
        <PasswordField
          label={t('password')}
          autocomplete="off"
          showLabel={t('showPassword')}
          hideLabel={t('hidePassword')}
          value={password}
          onValue={setPassword}
          error={wrong > 0 ? t('wrongPassword') : undefined}
        />
        <Button kind="primary" onClick={() => unlock(password)}>
          {t('unlock')}
        </Button>
      </div>
    </main>
  );
}

function opened(bytes: ArrayBuffer, worker: Worker, needs: Needs): PDFDocumentLoadingTask {
  /** Decoders in WebAssembly and tables of characters, which pdf.js would fetch: the frame has no network. */
  class FromPage {
    async fetch({ filename }: { readonly filename: string }): Promise<Uint8Array> {
      const part = await needs(filename);
      if (part === null) throw new Error(`the preview has no ${filename}`);
      return new Uint8Array(part);
    }
  }
  return getDocument({
    data: bytes,
    worker: PDFWorker.create({ port: worker }),
    BinaryDataFactory: FromPage,
    useWorkerFetch: false,
    wasmUrl: '/',
    cMapUrl: '/',
    // Without the fonts of pdf.js the system's are used for those that a PDF does not contain.
    useSystemFonts: true,
    enableXfa: false,
    // A picture in a PDF may claim any number of points.
    maxImageSize: 100_000_000,
    verbosity: 0,
  });
}

/**
 * A browser starts workers only of its page's own origin, and modules as workers not at all without one. A script in a `blob:` of
 * the frame's own may import them. It says `ready` when it listens; what is sent earlier is lost.
 */
async function workerOfFrame(): Promise<Worker> {
  const { default: address } = await import('pdfjs-dist/build/pdf.worker.min.mjs?url');
  const script = `import(${JSON.stringify(new URL(address, location.href).href)})`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  await new Promise((listens, fail) => {
    worker.addEventListener('message', listens, { once: true });
    worker.addEventListener('error', fail, { once: true });
  });
  return worker;
}
