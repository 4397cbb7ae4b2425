import { Button, LinkButton } from '../button.tsx';
import { Icon, type IconName } from '../icon.tsx';
import { IconButton } from '../icon-button.tsx';
import { PATHS } from '../icon-paths.ts';

const none = (): void => undefined;

export const Actions = () => (
  <>
    <div class="gallery-row">
      <Button kind="primary" icon="upload" onClick={none}>
        Upload
      </Button>
      <Button icon="folder-add" onClick={none}>
        New folder
      </Button>
      <Button kind="quiet" onClick={none}>
        Cancel
      </Button>
      <Button kind="danger" icon="trash" onClick={none}>
        Delete forever
      </Button>
      <LinkButton href="#actions" icon="external">
        API reference
      </LinkButton>
    </div>
    <div class="gallery-row">
      <Button kind="primary" isBusy onClick={none}>
        Saving
      </Button>
      <Button isBusy onClick={none}>
        Loading
      </Button>
      <Button kind="primary" disabled>
        Disabled
      </Button>
      <Button disabled>Disabled</Button>
      <Button kind="quiet" disabled>
        Disabled
      </Button>
    </div>
    <div class="gallery-row">
      <Button size="s" kind="primary">
        Retry
      </Button>
      <Button size="s" icon="filter">
        Filter
      </Button>
      <IconButton icon="more" label="More" />
      <IconButton icon="grid" label="Grid" isPressed />
      <IconButton icon="list" label="List" isPressed={false} />
      <IconButton icon="trash" label="Delete" disabled />
      <IconButton icon="close" label="Close" size="s" />
    </div>
    <ul class="gallery-row" role="list" aria-label="Icons">
      {(Object.keys(PATHS) as IconName[]).map((name) => (
        <li key={name} title={name}>
          <Icon name={name} label={name} />
        </li>
      ))}
    </ul>
  </>
);
