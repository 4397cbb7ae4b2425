import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { Icon, type IconName } from '../design/icon.tsx';
import { RequestId } from '../design/request-id.tsx';
import { count, t } from '../text/uploads.ts';
import { canChooseFolders, chooseFiles, chooseFolder } from './choose.ts';
import { holdInWords } from './in-words.ts';
import type { Hold, Summary } from './queue.ts';
import type { Uploader } from './uploader.ts';
import type { Batch } from './walk.ts';

interface NoticeProps {
  readonly kind: 'info' | 'warning' | 'danger';
  readonly icon: IconName;
  readonly text: ComponentChildren;
  readonly hint?: string | undefined;
  readonly children?: ComponentChildren;
}

const Notice = ({ kind, icon, text, hint, children }: NoticeProps) => (
  <div class={`upload-notice upload-notice-${kind}`}>
    <Icon name={icon} />
    <div>
      <p>{text}</p>
      {hint !== undefined && <p class="upload-hint">{hint}</p>}
      {children !== undefined && <div class="upload-answers">{children}</div>}
    </div>
  </div>
);

interface Props {
  readonly uploader: Uploader;
  readonly summary: Summary;
  /** Whether the list shows only what has failed. */
  readonly isFiltered: boolean;
  readonly onFilter: (isFiltered: boolean) => void;
  /** Says why nothing starts. Default: to somebody who is signed in. */
  readonly holdText?: ((hold: Hold) => string) | undefined;
  /** Default: starts again. */
  readonly onContinue?: (() => void) | undefined;
}

/** What the person has to know or decide about the whole list: each thing once, however many files it concerns. */
export function Notices({ uploader, summary: { count: number, hold }, isFiltered, onFilter, ...own }: Props) {
  const { holdText = holdInWords, onContinue = () => uploader.queue.release('stopped') } = own;
  const { leftOut, unreadable } = uploader.search;
  const { changed, isKept } = uploader.reload;
  const open = number.waiting + number.preparing + number.sending;
  return (
    <>
      {hold && open > 0 && (
        <Notice
          kind={hold.reason === 'stopped' ? 'danger' : 'info'}
          icon={hold.reason === 'offline' ? 'offline' : hold.reason === 'stopped' ? 'alert' : 'info'}
          text={holdText(hold)}
        >
          {hold.reason === 'stopped' && (
            <>
              <Button size="s" onClick={onContinue}>
                {t('continueNow')}
              </Button>
              <RequestId id={hold.problem?.requestId} />
            </>
          )}
        </Notice>
      )}
      {number.conflict > 0 && (
        <Notice kind="warning" icon="alert" text={count('conflicts', number.conflict)} hint={t('conflictsExplained')}>
          <Button size="s" onClick={() => uploader.answer('replace')}>
            {t('replace')}
          </Button>
          <Button size="s" onClick={() => uploader.answer('rename')}>
            {t('keepBoth')}
          </Button>
          <Button size="s" onClick={() => uploader.answer('skip')}>
            {t('skip')}
          </Button>
        </Notice>
      )}
      {number.interrupted > 0 && <Interrupted uploader={uploader} number={number.interrupted} />}
      {number.failed > 0 && (
        <Notice kind="danger" icon="alert" text={count('failures', number.failed)}>
          <Button size="s" onClick={() => uploader.retryAll()}>
            {t('retryAll')}
          </Button>
          <Button size="s" kind="quiet" onClick={() => onFilter(!isFiltered)}>
            {t(isFiltered ? 'showAll' : 'showFailed')}
          </Button>
        </Notice>
      )}
      {changed.length > 0 && (
        <Notice kind="info" icon="info" text={count('changed', changed.length, { names: listed(changed) })} />
      )}
      {!isKept && open > 0 && <Notice kind="warning" icon="alert" text={t('notKept')} />}
      {leftOut > 0 && <Notice kind="info" icon="info" text={count('leftOut', leftOut)} />}
      {unreadable.length > 0 && (
        <Notice kind="danger" icon="alert" text={count('unreadable', unreadable.length, { names: listed(unreadable) })} />
      )}
    </>
  );
}

const SHOWN_NAMES = 3;

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, SHOWN_NAMES).join(', ');
  return names.length > SHOWN_NAMES ? t('andMore', { names: shown }) : shown;
};

/** Continues uploads that a reload interrupted: by handles where the browser has them, otherwise by choosing the files again. */
function Interrupted({ uploader, number }: { readonly uploader: Uploader; readonly number: number }) {
  const [others, setOthers] = useState(0);
  const interrupted = uploader.queue.in('interrupted').map(uploader.queue.get);
  const canRead = interrupted.some((upload) => upload?.canRead);
  const isOfFolder = interrupted.some((upload) => upload && upload.path.length > 1);
  const choose = async (asked: Promise<Batch>): Promise<void> => {
    const { files } = await asked;
    setOthers(uploader.chosenAgain(files).length);
  };
  return (
    <Notice
      kind="warning"
      icon="alert"
      text={count('interrupted', number)}
      hint={others > 0 ? count('notTheSame', others) : t(canRead ? 'continueExplained' : 'interruptedExplained')}
    >
      {canRead && (
        <Button size="s" onClick={() => void uploader.allowReading()}>
          {t('continue')}
        </Button>
      )}
      <Button size="s" onClick={() => void choose(chooseFiles())}>
        {t('chooseAgain')}
      </Button>
      {isOfFolder && canChooseFolders() && (
        <Button size="s" onClick={() => void choose(chooseFolder())}>
          {t('chooseFolderAgain')}
        </Button>
      )}
    </Notice>
  );
}
