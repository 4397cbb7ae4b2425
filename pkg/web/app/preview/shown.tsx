import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { t } from '../../text/preview.ts';
import type { Entry } from '../files/entry.ts';
import { sizeInWords } from '../size-in-words.ts';
import { Card } from './card.tsx';
import { FrameViewer } from './frame-viewer.tsx';
import { ImageViewer } from './image-viewer.tsx';
import { Recording } from './recording.tsx';
import { TextViewer } from './text-viewer.tsx';
import { type Viewer, viewerOf } from './viewer-of.ts';
import type { ViewerProps } from './viewer-props.ts';

interface Props extends Omit<ViewerProps, 'onRefuse'> {
  readonly onSave: () => void;
}

/** The content of a file by its viewer, or its card where there is none or the viewer gives up. */
export function Shown({ entry, stage, keys, onKey, onChanged, onSave }: Props) {
  const best = viewerOf(entry);
  const isMarkdown = best === 'markdown' && isInFrame(entry);
  const [viewer, setViewer] = useState<Viewer>(() => firstViewer(entry, best));
  const [why, setWhy] = useState(() => whyNot(entry, best));
  const refuse = (reason: string): void => {
    setWhy(reason);
    setViewer('card');
  };
  const props = { entry, stage, keys, onKey, onChanged, onRefuse: refuse };
  switch (viewer) {
    case 'image':
      return <ImageViewer {...props} />;
    case 'audio':
    case 'video':
      return <Recording {...props} kind={viewer} />;
    case 'text':
      return <TextViewer {...props} onFormatted={isMarkdown ? () => setViewer('markdown') : undefined} />;
    case 'markdown':
      return <FrameViewer {...props} kind="markdown" onSource={() => setViewer('text')} />;
    case 'pdf':
      return <FrameViewer {...props} kind="pdf" />;
    case 'card':
      return (
        <Card entry={entry} onSave={onSave}>
          <p>{why}</p>
          {why === t('noPreview') && (
            <Button kind="quiet" onClick={() => setViewer('text')}>
              {t('asText')}
            </Button>
          )}
        </Card>
      );
  }
}

const MIB = 1024 * 1024;
/** Bytes of what a frame shows: it gets the whole file. */
const FRAME_MAX = { pdf: 64 * MIB, markdown: MIB } as const;

const isInFrame = ({ size }: Entry): boolean => (size ?? 0) <= FRAME_MAX.markdown;

function firstViewer(entry: Entry, best: Viewer): Viewer {
  const size = entry.size ?? 0;
  if (size === 0 || (best === 'pdf' && size > FRAME_MAX.pdf)) return 'card';
  return best === 'markdown' && !isInFrame(entry) ? 'text' : best;
}

/** Why the card is shown, if it is what is shown first. */
const whyNot = ({ size }: Entry, best: Viewer): string =>
  size === 0 ? t('empty') : best === 'pdf' ? t('tooLarge', { size: sizeInWords(FRAME_MAX.pdf) }) : t('noPreview');
