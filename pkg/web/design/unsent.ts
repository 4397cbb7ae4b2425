type Control = HTMLInputElement | HTMLTextAreaElement;

/** What stood in a control before somebody changed it. */
const before = new WeakMap<Control, string>();
/** Controls that somebody has changed, which is not what a script sets. */
let changed = new WeakSet<Control>();
let ask: ((discard: () => void) => void) | undefined;

/** Little is lost with a search, with what one chooses again from a list, or with the password of a sign-in. */
const NOT_COUNTED =
  '[type=search], [type=file], [type=radio], [type=hidden], [role=combobox], [readonly], [autocomplete=current-password]';
/** A question that somebody answers is no form: its field repeats a name that is known. */
const QUESTION = '[role=alertdialog]';

/** Begins to note what somebody enters into forms; once a page. */
export function watchForms(): void {
  const note = ({ target }: Event): void => {
    const form = target instanceof Element ? target.closest('form') : null;
    for (const control of form ? controlsOf(form) : []) if (!before.has(control)) before.set(control, valueOf(control));
  };
  document.addEventListener('focusin', note, true);
  document.addEventListener('pointerdown', note, true);
  document.addEventListener('input', ({ target }) => void (isControl(target) && changed.add(target)), true);
}

/** Says whether a form within holds what somebody has entered and not sent. A form that was emptied holds nothing. */
export const holdsUnsent = (root: ParentNode | null): boolean => unsentIn(root).length > 0;

/**
 * Forgets what was entered: whoever entered it has discarded it. Its forms get the event `reset`; they keep what they show, since
 * their state belongs to their components.
 */
export function discardUnsent(root: ParentNode): void {
  for (const form of unsentIn(root)) {
    for (const control of controlsOf(form)) changed.delete(control);
    form.dispatchEvent(new Event('reset'));
  }
}

/** Notes what a form sends. Call what it returns once that is saved: unsent is then only what has been entered since. */
export function noteSending(form: HTMLFormElement): () => void {
  const sent = controlsOf(form).map((control) => [control, valueOf(control)] as const);
  return () => {
    for (const [control, value] of sent) before.set(control, value);
  };
}

/** The person has signed out: what they entered is nobody's. */
export function forgetUnsent(): void {
  changed = new WeakSet();
}

/** Says how to ask whether what was entered may go; `how` calls `discard` if it may. Without it nobody is asked. */
export function askAboutUnsent(how: typeof ask): void {
  ask = how;
}

/** Calls `then` at once if nothing unsent is within `root`. Otherwise it asks first, and calls it if all of that may go. */
export function onceDiscarded(root: ParentNode | null, then: () => void): void {
  if (!ask || !root || !holdsUnsent(root)) return then();
  ask(() => {
    discardUnsent(root);
    then();
  });
}

function unsentIn(root: ParentNode | null): HTMLFormElement[] {
  const forms = [...(root?.querySelectorAll('form') ?? [])];
  return forms.filter((form) => !form.closest(QUESTION) && controlsOf(form).some(isUnsent));
}

function isUnsent(control: Control): boolean {
  if (!changed.has(control)) return false;
  // The part of a date that is typed is no value yet.
  if (control.validity.badInput) return true;
  const value = valueOf(control);
  return value !== before.get(control) && (isBox(control) || value.trim() !== '');
}

const controlsOf = (form: HTMLFormElement): Control[] =>
  [...form.elements].filter((element) => isControl(element) && !element.matches(NOT_COUNTED)) as Control[];

const isControl = (target: unknown): target is Control =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

const isBox = (control: Control): control is HTMLInputElement => control.type === 'checkbox';
const valueOf = (control: Control): string => (isBox(control) ? String(control.checked) : control.value);
