import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EVENTS } from '../pkg/events/catalogue.ts';

const source = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const names = Object.keys(EVENTS);

interface ListOfEvents {
  readonly maxItems: number;
  readonly items: { readonly enum: readonly string[] };
}

test('a Webhook resource may name each event of the catalogue, and all of them at once', () => {
  const { spec } = parse(source('crds/webhooks.carrel.dev.yaml')) as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: { events: ListOfEvents } } } } } }[] };
  };
  const lists = spec.versions.map(({ schema }) => schema.openAPIV3Schema.properties.spec.properties.events);

  expect(lists.map(({ maxItems, items }) => [items.enum, maxItems])).toEqual(lists.map(() => [names, names.length]));
});

/** The names of events that stand as code in a text. */
const namesIn = (text = ''): string[] => [...text.matchAll(/`(\w+\.\w+)`/g)].map(([, name = '']) => name);

test.each([
  ['docs/receive-webhooks.md', /^Carrel POSTs JSON .*$/m],
  ['docs/design/events-and-jobs.md', /^## Events\n\n.*?\. There are no others/m],
])('%s lists the events of the catalogue', (page, list) => {
  expect(namesIn(list.exec(source(page))?.[0])).toEqual(names);
});

test('docs/receive-webhooks.md says what the data of each event has', () => {
  const page = source('docs/receive-webhooks.md');
  const rows = [...page.matchAll(/^\| `(\w+\.\w+)` \|/gm)].map(([, name = '']) => name);

  // The example above the table is file.created.
  expect(['file.created', ...rows]).toEqual(names);
});
