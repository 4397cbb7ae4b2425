import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { Confirm } from '../confirm.tsx';
import { Dialog } from '../dialog.tsx';
import { IconButton } from '../icon-button.tsx';
import { Menu, type MenuItems } from '../menu.tsx';
import { TextField } from '../text-field.tsx';

const none = (): void => undefined;

const FILE_MENU: MenuItems = [
  { label: 'Open', icon: 'eye', shortcut: 'Enter', onSelect: none },
  { label: 'Download', icon: 'download', onSelect: none },
  { label: 'Share', icon: 'share', onSelect: none },
  'separator',
  { label: 'Rename', icon: 'edit', shortcut: 'F2', onSelect: none },
  { label: 'Move', icon: 'move', onSelect: none },
  { label: 'Translate', icon: 'translate', isDisabled: true, onSelect: none },
  'separator',
  { label: 'Delete', icon: 'trash', shortcut: 'Del', isDanger: true, onSelect: none },
];

export function Overlays() {
  const [open, setOpen] = useState<'dialog' | 'confirm' | 'typed'>();
  const [name, setName] = useState('Week 4');
  const close = (): void => setOpen(undefined);
  return (
    <div class="gallery-row">
      <Menu
        label="Actions of essay.pdf"
        items={FILE_MENU}
        trigger={(props) => <IconButton icon="more" label="Actions of essay.pdf" {...props} />}
      />
      <Button onClick={() => setOpen('dialog')}>Open a dialog</Button>
      <Button onClick={() => setOpen('confirm')}>Ask first</Button>
      <Button onClick={() => setOpen('typed')}>Ask for a name</Button>
      {open === 'dialog' && (
        <Dialog
          title="New folder"
          closeLabel="Close"
          onClose={close}
          onSubmit={close}
          actions={
            <>
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit">
                Create
              </Button>
            </>
          }
        >
          <TextField label="Name" value={name} onValue={setName} autofocus />
        </Dialog>
      )}
      {open === 'confirm' && (
        <Confirm
          title="Delete 3 files forever?"
          confirmLabel="Delete forever"
          cancelLabel="Cancel"
          isDanger
          onConfirm={close}
          onCancel={close}
        >
          Nobody can restore them, and links to them stop working.
        </Confirm>
      )}
      {open === 'typed' && (
        <Confirm
          title="Delete the group Staff?"
          confirmLabel="Delete the group"
          cancelLabel="Cancel"
          isDanger
          typed={{ text: 'Staff', label: 'Type Staff to confirm' }}
          onConfirm={close}
          onCancel={close}
        >
          42 people lose what the group lets them see.
        </Confirm>
      )}
    </div>
  );
}
