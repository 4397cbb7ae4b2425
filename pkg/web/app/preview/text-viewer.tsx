import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { classes } from '../../design/classes.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { Spinner } from '../../design/progress.tsx';
import { t } from '../../text/preview.ts';
import { ProblemNote } from '../problem-note.tsx';
import { sizeInWords } from '../size-in-words.ts';
import type { ViewerProps } from './viewer-props.ts';
import { linesOf } from './text-parts.ts';
import { useText } from './use-text.ts';

/** Lines that are added at once: a file of line breaks alone has a million in its first part. */
const LINES_MORE = 10_000;
/** The browser lays out whole blocks when they come into view. */
const BLOCK = 100;

interface Props extends ViewerProps {
  /** Shows the text as what it is the source of. */
  readonly onFormatted?: (() => void) | undefined;
}

/** A text or code with the numbers of its lines, as plain text whatever is in it. */
export function TextViewer({ entry, onChanged, onRefuse, onFormatted }: Props) {
  const {
    text,
    to = 0,
    isWhole,
    isLoading,
    problem,
    more,
    reload,
  } = useText(entry, { onBinary: () => onRefuse(t('noText')), onChanged });
  const [isWrapped, setWrapped] = useState(true);
  const [shown, setShown] = useState(LINES_MORE);
  const lines = useMemo(() => linesOf(text ?? ''), [text]);
  const made = useRef<VNode[]>([]);
  const hasHidden = lines.length > shown;
  const goOn = (): void => {
    setShown((before) => before + LINES_MORE);
    if (!hasHidden) more();
  };

  if (text === undefined) return problem ? <ProblemNote problem={problem} onRetry={reload} /> : <Spinner label={t('loading')} />;
  return (
    <>
      <div class="preview-sheet preview-text-sheet">
        <div
          class={classes('preview-text', isWrapped && 'preview-text-wrapped')}
          style={{ '--digits': String(Math.min(lines.length, shown)).length }}
        >
          {blocksOf(lines, shown, made.current)}
        </div>
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {(hasHidden || !isWhole) && (
          <p class="preview-more">
            <span>{t('shownText', { shown: sizeInWords(to), total: sizeInWords(entry.size ?? 0) })}</span>
            <Button isBusy={isLoading} onClick={goOn}>
              {t('moreText')}
            </Button>
          </p>
        )}
      </div>
      <div class="preview-tools">
        {onFormatted && <IconButton icon="eye" label={t('formatted')} onClick={onFormatted} />}
        <IconButton icon="wrap" label={t('wrap')} isPressed={isWrapped} onClick={() => setWrapped(!isWrapped)} />
      </div>
    </>
  );
}

/** Returns the first lines, in blocks. A block with lines behind it never changes, so `made` has it for the next time. */
function blocksOf(lines: readonly string[], shown: number, made: VNode[]): readonly VNode[] {
  const blocks: VNode[] = [];
  for (let from = 0; from < Math.min(lines.length, shown); from += BLOCK) {
    const index = from / BLOCK;
    const block = made[index] ?? <Block key={index} from={from} lines={lines.slice(from, from + BLOCK)} />;
    if (from + BLOCK < lines.length) made[index] = block;
    blocks.push(block);
  }
  return blocks;
}

const Block = ({ from, lines }: { readonly from: number; readonly lines: readonly string[] }) => (
  <pre class="preview-lines">
    {lines.map((line, at) => (
      <span key={at} class="preview-line" data-line={from + at + 1}>
        {line === '' ? '\n' : line}
      </span>
    ))}
  </pre>
);
