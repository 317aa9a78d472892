import { type ComponentChildren, createContext, type TargetedMouseEvent } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { mountedAt, type Place, placeOf } from '../routing/location.js';

interface Navigation {
  readonly place: Place;
  /** Goes to a path inside the explorer. */
  readonly go: (path: string, how?: { readonly replace?: boolean }) => void;
}

const NavigationContext = createContext<Navigation | null>(null);

/** Follows the address of the browser: links, back, forward, reload. */
export function Router({ children }: { readonly children: ComponentChildren }) {
  const base = mountedAt();
  const [place, setPlace] = useState(() => placeOf(location.pathname, location.search, base));
  useEffect(() => {
    const follow = () => setPlace(placeOf(location.pathname, location.search, base));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, [base]);
  const navigation = useMemo<Navigation>(
    () => ({
      place,
      go: (path, { replace = false } = {}) => {
        const before = location.pathname;
        history[replace ? 'replaceState' : 'pushState'](null, '', `${base}${path}`);
        setPlace(placeOf(location.pathname, location.search, base));
        if (replace || location.pathname === before) return;
        scrollTo(0, 0);
        // A screen reader begins to read the new page.
        document.getElementById('main')?.focus({ preventScroll: true });
      },
    }),
    [place, base],
  );
  return <NavigationContext.Provider value={navigation}>{children}</NavigationContext.Provider>;
}

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (navigation === null) throw new TypeError('there is no router');
  return navigation;
}

interface LinkProps {
  /** Inside the explorer, from `pathOf`. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string | undefined;
  readonly label?: string;
  readonly current?: boolean;
}

/** A link inside the explorer. */
export function Link({ to, children, title, label, current, ...rest }: LinkProps) {
  const { go } = useNavigation();
  const onClick = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    // New tabs and windows belong to the browser.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={`${mountedAt()}${to}`}
      onClick={onClick}
      title={title}
      aria-label={label}
      aria-current={current === true ? 'page' : undefined}
      {...rest}
    >
      {children}
    </a>
  );
}
