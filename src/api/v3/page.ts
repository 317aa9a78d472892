import { httpErrors } from '#api/http/errors.js';
import type { V3Context } from '#api/v3/context.js';
import { DEFAULT_LIMIT } from '#api/v3/parameters.js';
import type { Listed, Page } from '#drivers/store/read/index-reads.js';

/** The header that names the cursor of the next page. */
const NEXT = 'X-Tern-Next';

interface PageParameters {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
}

/** Which stretch a request asks for. */
export function pageOf(params: PageParameters, { profile }: Pick<V3Context, 'profile'>): Page {
  const { limit = DEFAULT_LIMIT[profile], offset = 0, sort = 'desc', cursor = null } = params;
  return { limit, offset, sort, cursor };
}

/** A cursor knows where it is. @throws http/bad-parameter */
export function checkPage({ cursor, offset }: PageParameters): void {
  if (cursor === undefined || offset === undefined || offset === 0) return;
  throw httpErrors['bad-parameter']({ parameter: 'offset', problem: 'it cannot be given together with cursor' });
}

/** The rows; says in a header how to go on. */
export function rowsOf<Row>({ rows, next }: Listed<Row>, { header }: Pick<V3Context, 'header'>): readonly Row[] {
  if (next !== null) header(NEXT, next);
  return rows;
}
