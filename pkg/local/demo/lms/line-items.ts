import type { Courses } from './courses.ts';
import type { GradeBook, LineItem, LineItemDefinition } from './grade-book.ts';
import { pageOf, parameter } from './paging.ts';
import { Refusal } from './refusal.ts';
import { SCOPE } from './scopes.ts';
import { type Call, type Operations, Service } from './service.ts';
import type { TokenEndpoint } from './token.ts';

const LINE_ITEM = 'application/vnd.ims.lis.v2.lineitem+json';
const CONTAINER = 'application/vnd.ims.lis.v2.lineitemcontainer+json';
/** ISO 8601 with a zone (AGS 2.0 §3.2.12). */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const READ = [SCOPE.lineItem, SCOPE.lineItemReadOnly];
const WRITE = [SCOPE.lineItem];

/** The line item service of AGS 2.0 §3.2: the container at `/ags/{course}/lineitems`, and each line item at its own address. */
export function lineItemService(issuer: string, deps: { tokens: TokenEndpoint; courses: Courses; book: GradeBook }): Service {
  const { tokens, courses, book } = deps;

  const container = (part: string): Operations => ({
    GET: {
      scopes: READ,
      gives: CONTAINER,
      run: ({ clientId, url, pageSize }) => {
        const all = book.itemsOf(courses.require(part).id, clientId);
        const page = pageOf(all.filter(filterOf(url)), url, pageSize);
        return { body: page.items.map(shown), page };
      },
    },
    POST: {
      scopes: WRITE,
      gives: LINE_ITEM,
      takes: LINE_ITEM,
      run: ({ clientId, body }) => {
        const course = courses.require(part);
        const definition = definitionOf(members(body));
        const { resourceLinkId } = definition;
        const isTheirs = resourceLinkId === undefined || course.links.get(resourceLinkId)?.has(clientId) === true;
        if (!isTheirs) throw new Refusal(404, 'resourceLinkId is not a link of this tool in this course');
        return { status: 201, body: shown(book.add(course.id, clientId, definition)) };
      },
    },
  });

  const required = ({ url, clientId }: Call): LineItem => requireItem(book, url.href, clientId);
  const single: Operations = {
    GET: { scopes: READ, gives: LINE_ITEM, run: (call) => ({ body: shown(required(call)) }) },
    PUT: {
      scopes: WRITE,
      gives: LINE_ITEM,
      takes: LINE_ITEM,
      run: (call) => {
        const item = required(call);
        const said = members(call.body);
        const { resourceLinkId } = item.definition;
        if (said.id !== undefined && said.id !== item.id) throw new Refusal(400, 'id may not change');
        if (said.resourceLinkId !== undefined && said.resourceLinkId !== resourceLinkId)
          throw new Refusal(400, 'resourceLinkId may not change');
        item.definition = { ...definitionOf(said), ...(resourceLinkId === undefined ? {} : { resourceLinkId }) };
        return { body: shown(item) };
      },
    },
    DELETE: { scopes: WRITE, run: (call) => (book.remove(required(call)), { status: 204 }) },
  };

  return new Service(issuer, tokens, ({ pathname }) => {
    const part = /^\/ags\/([^/]+)\/lineitems\/?$/.exec(pathname)?.[1];
    return part === undefined ? single : container(part);
  });
}

/** Throws Refusal 404 if the tool has no line item at this address. */
export function requireItem(book: GradeBook, address: string, clientId: string): LineItem {
  const item = book.item(address, clientId);
  if (!item) throw new Refusal(404, 'the tool has no such line item');
  return item;
}

const shown = ({ id, definition }: LineItem) => ({ id, ...definition });

function filterOf(url: URL): (item: LineItem) => boolean {
  const [link, resource, tag] = ['resource_link_id', 'resource_id', 'tag'].map((name) => parameter(url, name));
  return ({ definition }) =>
    (link === undefined || definition.resourceLinkId === link) &&
    (resource === undefined || definition.resourceId === resource) &&
    (tag === undefined || definition.tag === tag);
}

function members(body: string): Record<string, unknown> {
  let said: unknown;
  try {
    said = JSON.parse(body);
  } catch {
    throw new Refusal(400, 'the body is not JSON');
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw new Refusal(400, 'the body is not an object');
  return said as Record<string, unknown>;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTime = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value)));

/** The members that a tool may send, and their forms. */
const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: isText,
  label: (value) => typeof value === 'string' && value.trim() !== '',
  scoreMaximum: (value) => typeof value === 'number' && value > 0,
  resourceLinkId: (value) => typeof value === 'string' && value !== '',
  resourceId: isText,
  tag: isText,
  startDateTime: isTime,
  endDateTime: isTime,
  gradesReleased: (value) => typeof value === 'boolean',
};

function definitionOf({ id, ...said }: Record<string, unknown>): LineItemDefinition {
  for (const name of ['label', 'scoreMaximum']) if (said[name] === undefined) throw new Refusal(400, `${name} is missing`);
  for (const [name, value] of Object.entries({ ...said, ...(id === undefined ? {} : { id }) })) {
    const isSo = Object.hasOwn(FORMS, name) ? FORMS[name] : () => isExtension(name);
    if (!isSo?.(value)) throw new Refusal(400, `${name} does not have the form of AGS 2.0`);
  }
  return { startDateTime: null, endDateTime: null, ...said } as LineItemDefinition;
}

/** An extension has an address as its name (AGS 2.0 §3.1.2). */
const isExtension = (name: string): boolean => /^https?:\/\//.test(name) && URL.canParse(name);
