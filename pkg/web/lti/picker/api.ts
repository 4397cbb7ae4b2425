import { Api, type Entry, type Page } from '../entry/api.ts';
import type { ItemType } from './choices.ts';

/** GET /lti/launches/{launch_id}/picker. */
export interface PickerView {
  readonly user: { readonly id: string };
  readonly context: { readonly title: string } | null;
  readonly folder: { readonly id: string; readonly name: string; readonly may_write: boolean } | null;
  readonly types: readonly ItemType[];
  readonly media_types: readonly string[] | null;
  readonly multiple: boolean;
  readonly own_only: boolean;
  readonly line_items: boolean;
}

export interface Item {
  readonly type: ItemType;
  readonly file_id: string;
  readonly line_item?: { readonly score_maximum: number };
}

export interface Answer {
  readonly method: 'get' | 'post';
  readonly url: string;
  readonly jwt: string;
}

/** The displayed part of the tree: a folder, null being the person's own root, or the results of a search. */
export type Shown = { readonly folderId: string | null } | { readonly query: string; readonly owner?: string };

const PAGE_SIZE = 50;

/** The REST API for the picker. Throws ApiError. */
export class PickerApi extends Api {
  #last = { items: '', key: '' };

  picker = (): Promise<PickerView> => this.json<PickerView>('GET', `/lti/launches/${this.session.launchId}/picker`);

  entries(shown: Shown, cursor?: string): Promise<Page<Entry>> {
    if (!('query' in shown)) return this.children(shown.folderId, cursor);
    const { query, owner } = shown;
    const page = { limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) };
    return this.json<Page<Entry>>('GET', `/search?${new URLSearchParams({ q: query, ...(owner ? { owner } : {}), ...page })}`);
  }

  /** Returns the signed answer. If the reply was lost, the server returns the same answer again for the same items. */
  answer(items: readonly Item[]): Promise<Answer> {
    const text = JSON.stringify(items);
    if (this.#last.items !== text) this.#last = { items: text, key: crypto.randomUUID() };
    const headers = { 'idempotency-key': this.#last.key };
    return this.json<Answer>('POST', `/lti/launches/${this.session.launchId}/picker/answer`, { body: { items }, headers });
  }
}
