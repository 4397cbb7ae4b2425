import type { GradeBook } from './grade-book.ts';
import { requireItem } from './line-items.ts';
import { pageOf, parameter } from './paging.ts';
import { SCOPE } from './scopes.ts';
import { Service } from './service.ts';
import type { TokenEndpoint } from './token.ts';

const CONTAINER = 'application/vnd.ims.lis.v2.resultcontainer+json';
/** Our own parameters; the rest of a query is part of the line item's address. */
const PARAMETERS = ['user_id', 'limit', 'from'];

/** The result service of AGS 2.0 §3.3, at `/results` below a line item. It returns the cells that result from the scores. */
export const resultService = (issuer: string, { tokens, book }: { tokens: TokenEndpoint; book: GradeBook }): Service =>
  new Service(issuer, tokens, () => ({
    GET: {
      scopes: [SCOPE.result],
      gives: CONTAINER,
      run: ({ clientId, url, pageSize }) => {
        const results = book.resultsOf(requireItem(book, lineItemOf(url), clientId));
        const wanted = parameter(url, 'user_id');
        const page = pageOf(
          results.filter(({ userId }) => wanted === undefined || userId === wanted),
          url,
          pageSize,
        );
        return { body: page.items, page };
      },
    },
  }));

function lineItemOf(url: URL): string {
  const item = new URL(url);
  item.pathname = url.pathname.replace(/\/results$/, '');
  for (const name of PARAMETERS) item.searchParams.delete(name);
  return item.href;
}
