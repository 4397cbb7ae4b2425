import type { Answer } from './api.ts';

/** Takes the answer to the LMS, which replaces this page. */
export function leave({ method, url, jwt }: Answer): void {
  if (method === 'get') {
    location.assign(url);
    return;
  }
  const form = document.createElement('form');
  form.method = 'post';
  form.action = url;
  form.hidden = true;
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'JWT';
  field.value = jwt;
  form.append(field);
  document.body.append(form);
  form.submit();
}
