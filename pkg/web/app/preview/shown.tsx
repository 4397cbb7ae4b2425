import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { t } from '../../text/preview.ts';
import { Card } from './card.tsx';
import { ImageViewer } from './image-viewer.tsx';
import { Recording } from './recording.tsx';
import { TextViewer } from './text-viewer.tsx';
import { type Viewer, viewerOf } from './viewer-of.ts';
import type { ViewerProps } from './viewer-props.ts';

interface Props extends Omit<ViewerProps, 'onRefuse'> {
  readonly onSave: () => void;
}

/** The content of a file by its viewer, or its card where there is none or the viewer gives up. */
export function Shown({ entry, stage, keys, onSave }: Props) {
  const [viewer, setViewer] = useState<Viewer>(() => (entry.size === 0 ? 'card' : viewerOf(entry)));
  const [why, setWhy] = useState(() => (entry.size === 0 ? t('empty') : t('noPreview')));
  const refuse = (reason: string): void => {
    setWhy(reason);
    setViewer('card');
  };
  const props = { entry, stage, keys, onRefuse: refuse };
  switch (viewer) {
    case 'image':
      return <ImageViewer {...props} />;
    case 'audio':
    case 'video':
      return <Recording {...props} kind={viewer} />;
    case 'text':
    case 'markdown':
      return <TextViewer {...props} />;
    case 'pdf':
    case 'card':
      return (
        <Card entry={entry} onSave={onSave}>
          <p>{why}</p>
          {why === t('noPreview') && viewerOf(entry) === 'card' && (
            <Button kind="quiet" onClick={() => setViewer('text')}>
              {t('asText')}
            </Button>
          )}
        </Card>
      );
  }
}
