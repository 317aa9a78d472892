import { useEffect, useRef, useState } from 'preact/hooks';
import { useNavigation } from '../routing/router.js';
import { searchPath, searchTargetOrWord } from '../routing/search-target.js';

/** One field for everything that has a page. The key `/` leads to it. */
export function SearchBox({ isLarge = false }: { readonly isLarge?: boolean }) {
  const { go } = useNavigation();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);

  // A page has one of these fields.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    // What is in the field: the last key may not be in the state yet.
    const target = searchTargetOrWord(field.current?.value ?? typed);
    if (target.kind === 'problem') {
      setProblem(target.problem);
      return;
    }
    setProblem('');
    setTyped('');
    field.current?.blur();
    go(searchPath(target));
  };
  const id = isLarge ? 'search-large' : 'search';
  return (
    <search>
      <form class={`search${isLarge ? ' search-large' : ''}`} onSubmit={onSubmit}>
        <label class="visually-hidden" for={id}>
          Search for an address, a transaction, a block, a domain or a jetton
        </label>
        <input
          id={id}
          ref={field}
          value={typed}
          maxLength={20_000}
          placeholder={isLarge ? 'Address, hash, block, domain, BoC' : 'Address, hash, block, …'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="search"
          aria-describedby={problem === '' ? undefined : `${id}-problem`}
          aria-invalid={problem !== ''}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setProblem('');
          }}
        />
        <button type="submit" aria-label="Search">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M9 3a6 6 0 1 0 0 12A6 6 0 1 0 9 3M13.5 13.5L17 17" />
          </svg>
        </button>
        {problem !== '' && (
          <p id={`${id}-problem`} class="search-problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </search>
  );
}
