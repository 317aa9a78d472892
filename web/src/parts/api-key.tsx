import { useEffect, useState } from 'preact/hooks';
import { apiKey, isApiKey, type KeyRefusal, keepApiKey, onKeyRefusal } from '../api/api-key.js';
import { Field } from '../parts/act.js';
import { Notice } from '../parts/notice.js';

/** Where a reader gives an API key; it is sent as `X-API-Key` and kept until the tab is closed. */
export function ApiKeyForm() {
  const [typed, setTyped] = useState('');
  const key = apiKey();
  const text = typed.trim();
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isApiKey(text)) keepApiKey(text);
      }}
    >
      <Field label="API key" value={typed} onChange={setTyped} required mode="text" secret />
      <div class="form-buttons">
        <button type="submit" class="button">
          Use this key
        </button>
        {key !== null && (
          <button type="button" class="button button-plain" onClick={() => keepApiKey(null)}>
            Forget the key in use
          </button>
        )}
      </div>
      <p class={`form-said${text === '' || isApiKey(text) ? '' : ' bad'}`} aria-live="polite">
        {text !== '' && !isApiKey(text)
          ? 'A key has at most 200 visible ASCII characters, and no blanks.'
          : key === null
            ? 'Requests carry no key.'
            : `Requests carry a key that ends with ${key.slice(-4)}, until this tab is closed.`}
      </p>
    </form>
  );
}

const TITLES: Readonly<Record<KeyRefusal, string>> = {
  'unknown-key': 'This server does not know the API key of this page, or the key is for another network.',
  'too-many-requests': 'This server allows fewer requests than the page needs; with an API key it may allow more.',
};

/** Asks for a key when requests are refused for want of one. */
export function ApiKeyNotice() {
  const [refusal, setRefusal] = useState<KeyRefusal | null>(null);
  useEffect(() => onKeyRefusal(setRefusal), []);
  if (refusal === null) return null;
  return (
    <Notice kind="warning" title={TITLES[refusal]}>
      <ApiKeyForm />
      <button type="button" class="link" onClick={() => setRefusal(null)}>
        Go on without
      </button>
    </Notice>
  );
}
