/** Where the explorer is mounted, without a slash at the end: empty, or `/explorer`. The server writes it into the page. */
export function mountedAt(): string {
  return document.documentElement.dataset.base ?? '';
}

/** The path of an address inside the explorer: `/account/EQ…` without the mount. */
export interface Place {
  /** Percent-decoded parts of the path. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

/** The place of a path of the browser. */
export function placeOf(pathname: string, search: string, base: string): Place {
  const inside = pathname.startsWith(base) ? pathname.slice(base.length) : pathname;
  const parts = inside
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { parts, query: new URLSearchParams(search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that belongs to nothing: as it stands.
    return part;
  }
}

/** The address of a page: its parts, and what of the query is given. */
export function pathOf(
  parts: readonly (string | number)[],
  query: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const path = parts.map((part) => encodeURIComponent(part).replaceAll('%3A', ':').replaceAll('%2C', ',')).join('/');
  const given = Object.entries(query).flatMap(([name, value]) => (value == null ? [] : [[name, `${value}`]]));
  const search = new URLSearchParams(given).toString();
  return `/${path}${search === '' ? '' : `?${search}`}`;
}
