import { useState } from 'preact/hooks';
import { Breadcrumb, type Crumb } from '../breadcrumb.tsx';
import { Button } from '../button.tsx';
import { Drawer, SidePanel } from '../drawer.tsx';
import { EmptyState, type Drawing } from '../empty-state.tsx';
import { EndlessList } from '../endless-list.tsx';
import { KindIcon } from '../file-icon.tsx';
import { FILE_KINDS } from '../file-kind.ts';
import { sizeIn } from '../format.ts';
import { Plot } from '../plot.tsx';
import { QrCode } from '../qr-code.tsx';
import { Tabs } from '../tabs.tsx';

const none = (): void => undefined;
const PATH = ['Files', 'Biology', 'Winter term', 'Lectures', 'Week 3', 'Pictures of cells'];
const crumbs: Crumb[] = PATH.map((label, index) => ({
  id: label,
  label,
  href: '#content',
  ...(index === 0 ? { icon: 'home' } : {}),
}));
const DRAWINGS: readonly Drawing[] = ['files', 'search', 'trash', 'shared', 'done', 'offline'];
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

export function Content() {
  const [tab, setTab] = useState('details');
  const [isDrawer, setDrawer] = useState(false);
  const [lines, setLines] = useState(3);
  return (
    <>
      <Breadcrumb label="Where you are" crumbs={crumbs.slice(0, 2)} moreLabel="More folders" onGo={none} />
      <Breadcrumb
        label="A deep folder"
        crumbs={crumbs}
        moreLabel="Folders between"
        onGo={none}
        menu={{ label: 'Actions of Pictures of cells', items: [{ label: 'Rename', icon: 'edit', onSelect: none }] }}
      />
      <div class="gallery-row">
        {(['folder', ...FILE_KINDS] as const).map((kind) => (
          <KindIcon key={kind} kind={kind} size="l" />
        ))}
        <KindIcon kind="pdf" />
        <KindIcon kind="folder" />
        <KindIcon kind="image" size="xl" />
      </div>
      <Tabs
        label="About essay.pdf"
        selected={tab}
        onSelect={setTab}
        tabs={[
          { id: 'details', label: 'Details' },
          { id: 'versions', label: 'Versions', count: 4 },
          { id: 'access', label: 'Access', icon: 'people' },
        ]}
      >
        <p>What the tab {tab} shows.</p>
      </Tabs>
      <div class="gallery-columns">
        {DRAWINGS.map((drawing) => (
          <EmptyState key={drawing} drawing={drawing} title="There is nothing here yet">
            Drop files here, or choose them.
          </EmptyState>
        ))}
      </div>
      <div class="gallery-columns">
        <Plot
          title="Bytes uploaded"
          tableLabel="Show as a table"
          kind="bars"
          labels={DAYS}
          series={[
            { name: 'Files', values: [12e6, 30e6, 22e6, 41e6, 38e6, 4e6, 2e6] },
            { name: 'Versions', values: [2e6, 9e6, 4e6, 12e6, 3e6, 1e6, 0] },
          ]}
          format={(value) => sizeIn('en', value)}
        />
        <Plot
          title="Deliveries"
          tableLabel="Show as a table"
          kind="lines"
          labels={DAYS}
          series={[
            { name: 'Delivered', values: [120, 180, 160, 240, 220, 60, 40] },
            { name: 'Failed', values: [2, 4, 60, null, 12, 3, 0] },
          ]}
        />
        <QrCode text="https://files.example/s/0123456789abcdef0123456789abcdef" label="QR code of the link" />
        <SidePanel title="essay.pdf" closeLabel="Close the details" onClose={none}>
          <EndlessList isMore={lines < 6} isLoading={false} hasFailed moreLabel="More" onMore={() => setLines(lines + 1)}>
            {Array.from({ length: lines }, (_, index) => (
              <p key={index}>Version {index + 1}</p>
            ))}
          </EndlessList>
        </SidePanel>
      </div>
      <div class="gallery-row">
        <Button onClick={() => setDrawer(true)}>Open a drawer</Button>
      </div>
      {isDrawer && (
        <Drawer label="Navigation" closeLabel="Close the navigation" onClose={() => setDrawer(false)}>
          <h3>Navigation</h3>
        </Drawer>
      )}
    </>
  );
}
