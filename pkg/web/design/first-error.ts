/** What a field with an error has; a button that is a field cannot be invalid, and has `data-invalid`. */
const FIELD = '[aria-invalid=true], [data-invalid]';
const SAID = '[role=alert], .c-field-error';

/** Gives the focus to the first field of a form that has an error. If none has, scrolls to the first error that the form says. */
export function showFirstError(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>(FIELD);
  if (field) field.focus({ preventScroll: true });
  const shown = field?.closest('.c-field, [role=group]') ?? field ?? form.querySelector(SAID);
  shown?.scrollIntoView({ block: 'nearest' });
}
