import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { pathOf } from '../routing/location.js';
import { useNavigation } from '../routing/router.js';

interface Tab {
  readonly id: string;
  readonly title: string;
  /** Behind the title: how much is there. */
  readonly count?: string | undefined;
  readonly content: () => ComponentChildren;
}

interface TabsProps {
  /** Of the query that holds the chosen tab, so that an address leads to it. */
  readonly name: string;
  readonly tabs: readonly Tab[];
}

/** Parts of a page of which one is shown. Arrow keys go from one to the next. */
export function Tabs({ name, tabs }: TabsProps) {
  const { place, go } = useNavigation();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const wanted = place.query.get(name);
  const chosen = tabs.find((tab) => tab.id === wanted) ?? tabs[0]!;
  const choose = (tab: Tab) => {
    const query = Object.fromEntries(place.query);
    delete query[name];
    go(pathOf(place.parts, tab === tabs[0] ? query : { ...query, [name]: tab.id }), { replace: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const index = (tabs.indexOf(chosen) + step + tabs.length) % tabs.length;
    choose(tabs[index]!);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus();
  };
  return (
    <section class="card">
      <div class="tabs" role="tablist" ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
          >
            {tab.title}
            {tab.count !== undefined && <span class="tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen.id}`} class="tab-panel">
        {chosen.content()}
      </div>
    </section>
  );
}
