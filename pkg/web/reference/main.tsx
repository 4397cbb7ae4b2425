import { render } from 'preact';
import { createPortal } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { connect } from '../api/browser.ts';
import '../design/index.css';
import { Observed } from '../api/observed.ts';
import { type Document, type Operation, operationOf } from './operation.ts';
import { TryIt } from './try-it.tsx';
import './reference.css';

const { session } = connect();
// Without a server the page still shows its text, and each request says what failed.
void session.start().catch(() => undefined);

let loading: Promise<Document> | undefined;
const described = (): Promise<Document> =>
  (loading ??= fetch('/api/v1/openapi.json').then(async (reply) => (await reply.json()) as Document));

interface Form {
  readonly root: HTMLElement;
  readonly operation: Operation;
}

const forms = new Observed<readonly Form[]>([]);

/** The forms of all operations that were opened, in one tree: ids of fields are unique within a tree. */
function Forms() {
  const [shown, setShown] = useState(forms.value);
  useEffect(() => {
    const show = (): void => setShown(forms.value);
    show();
    return forms.subscribe(show);
  }, []);
  return <>{shown.map(({ root, operation }) => createPortal(<TryIt operation={operation} session={session} />, root))}</>;
}
render(<Forms />, document.createElement('div'));

/** Adds the form to an operation that is opened for the first time. */
async function addForm(details: HTMLDetailsElement): Promise<void> {
  const root = details.querySelector<HTMLElement>('[data-operation]');
  const { operation: operationId } = root?.dataset ?? {};
  if (!root || operationId === undefined) return;
  const operation = operationOf(await described(), operationId);
  if (operation && !forms.value.some((form) => form.root === root)) forms.set([...forms.value, { root, operation }]);
}

for (const details of document.querySelectorAll('details'))
  details.addEventListener('toggle', () => {
    if (details.open) void addForm(details);
  });

/** Opens the operation that the address names, as in `#getFile`. */
function openNamed(): void {
  const named = document.querySelector(`details[id="${CSS.escape(location.hash.slice(1))}"]`);
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}
window.addEventListener('hashchange', openNamed);
openNamed();
