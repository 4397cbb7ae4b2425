import { useState } from 'preact/hooks';
import { Avatar } from '../avatar.tsx';
import { Badge, Notice, Tag } from '../badge.tsx';
import { Button } from '../button.tsx';
import { DateTime, FileSize } from '../measures.tsx';
import { Progress, Spinner } from '../progress.tsx';
import { RequestId, RequestIdButton } from '../request-id.tsx';
import { Skeleton } from '../skeleton.tsx';
import { toasts } from '../toast.tsx';

const PEOPLE = ['Ada Okafor', 'Ben Lindqvist', 'Chen Wei', 'Dana Haddad', 'Éva Szabó', 'Farid'];
const HOUR_MS = 3_600_000;
const REQUEST = '2f1c8a52-0f0e-4f59-9d3c-1f2b8a9c7d10';

export function Status() {
  const [tags, setTags] = useState(['lecture', 'week 3', 'a tag with a long name that goes on and on']);
  return (
    <>
      <div class="gallery-row">
        <Badge>Draft</Badge>
        <Badge tone="accent">New</Badge>
        <Badge tone="success" icon="check">
          Active
        </Badge>
        <Badge tone="warning">Expires soon</Badge>
        <Badge tone="danger" icon="alert">
          Failed
        </Badge>
        <Badge tone="info">Managed by Kubernetes</Badge>
      </div>
      <div class="gallery-row">
        {tags.map((tag) => (
          <Tag key={tag} removeLabel={`Remove ${tag}`} onRemove={() => setTags(tags.filter((other) => other !== tag))}>
            {tag}
          </Tag>
        ))}
        <Tag href="/search" colour="#3f7fc4">
          sources
        </Tag>
      </div>
      <div class="gallery-row">
        {PEOPLE.map((name) => (
          <Avatar key={name} name={name} isNamed />
        ))}
        <Avatar name="Ada Okafor" size="l" isNamed />
        <Avatar name="Ben Lindqvist" size="s" isNamed />
        <DateTime value={new Date(Date.now() - 3 * HOUR_MS).toISOString()} />
        <DateTime value="2025-11-02T09:30:00Z" />
        <FileSize bytes={1_250_000} />
      </div>
      <div class="gallery-columns">
        <Notice tone="info" title="This is managed by Kubernetes">
          Change it with kubectl edit webhook.
        </Notice>
        <Notice tone="warning">Your storage is nearly full.</Notice>
        <Notice tone="danger" title="The folder could not be loaded" actions={<Button size="s">Try again</Button>}>
          The server does not answer.
        </Notice>
        <Notice tone="success">All files are there.</Notice>
      </div>
      <div class="gallery-columns">
        <Progress label="Upload of essay.pdf" value={0.62} />
        <Progress label="Unpacking" />
        <Progress label="Finished" value={1} tone="success" />
        <Progress label="Storage" value={0.94} tone="danger" />
        <Skeleton label="Loading" />
        <Spinner label="Loading" />
      </div>
      <div class="gallery-row">
        <Button
          onClick={() =>
            toasts.show({ text: '3 files moved to the trash', action: { label: 'Undo', onSelect: () => undefined } })
          }
        >
          Show a toast
        </Button>
        <Button onClick={() => toasts.show({ text: 'The link was copied', tone: 'success' })}>Show a success</Button>
        <Button
          onClick={() =>
            toasts.show({ text: 'essay.pdf could not be renamed: the name is taken', tone: 'danger', requestId: REQUEST })
          }
        >
          Show a failure
        </Button>
        <RequestId id={REQUEST} />
        <RequestIdButton id={REQUEST} />
      </div>
    </>
  );
}
