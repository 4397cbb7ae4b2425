/**
 * Returns true if a date or a number of the form is typed in part: to a page it is then empty, as if there were none. The browser
 * says so at the field.
 */
export function hasHalfTyped(form: HTMLFormElement): boolean {
  const fields = [...form.elements].filter((element) => element instanceof HTMLInputElement);
  const half = fields.find(({ validity }) => validity.badInput);
  half?.reportValidity();
  return half !== undefined;
}
