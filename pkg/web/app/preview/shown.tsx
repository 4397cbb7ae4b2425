import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { t } from '../../text/preview.ts';
import { Card } from './card.tsx';
import { FrameViewer } from './frame-viewer.tsx';
import { ImageViewer } from './image-viewer.tsx';
import { Recording } from './recording.tsx';
import { TextViewer } from './text-viewer.tsx';
import { firstViewer, isInFrame, type Viewer, viewerOf, whyNot } from './viewer-of.ts';
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
