import { useMemo, useState } from 'preact/hooks';
import { FileIcon } from '../file-icon.tsx';
import { Grid } from '../grid/grid.tsx';
import { NOTHING, type Selection } from '../grid/selection.ts';
import { IconButton } from '../icon-button.tsx';
import { FileSize } from '../measures.tsx';

interface Item {
  readonly id: string;
  readonly name: string;
  readonly size: number;
}

const COUNT = 100_000;
const NAMES = ['essay.pdf', 'cells.png', 'lecture.mp4', 'marks.xlsx', 'notes.md', 'talk.pptx', 'sources.zip', 'main.rs'];

export function Lists() {
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [isDescending, setDescending] = useState(false);
  const [opened, setOpened] = useState('');
  const rows = useMemo(() => {
    const at = (index: number): Item => {
      const number = isDescending ? COUNT - 1 - index : index;
      return { id: String(number), name: `${number + 1} ${NAMES[number % NAMES.length]}`, size: number * 7_919 };
    };
    return { count: COUNT, total: COUNT, at };
  }, [isDescending]);
  return (
    <>
      <p>100,000 rows. {opened && `Opened: ${opened}`}</p>
      <div class="gallery-scroll">
        <Grid
          label="Files"
          rows={rows}
          idOf={({ id }) => id}
          nameOf={({ name }) => name}
          selection={selection}
          onSelection={setSelection}
          selectLabel={(name) => `Select ${name}`}
          selectAllLabel="Select all"
          sorting={{ key: 'name', isDescending }}
          onSort={() => setDescending(!isDescending)}
          onOpen={({ name }) => setOpened(name)}
          columns={[
            {
              key: 'name',
              label: 'Name',
              width: 'minmax(8rem, 1fr)',
              isSortable: true,
              cell: ({ name }) => (
                <>
                  <FileIcon mimeType={null} name={name} />
                  {name}
                </>
              ),
            },
            { key: 'size', label: 'Size', width: '6rem', isAtEnd: true, cell: ({ size }) => <FileSize bytes={size} /> },
            {
              key: 'more',
              label: 'Actions',
              isLabelHidden: true,
              width: '3rem',
              cell: ({ name }) => <IconButton icon="more" size="s" label={`Actions of ${name}`} tabIndex={-1} />,
            },
          ]}
        />
      </div>
    </>
  );
}
