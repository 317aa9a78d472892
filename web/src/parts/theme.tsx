import { useState } from 'preact/hooks';

type Theme = 'system' | 'light' | 'dark';

const KEY = 'tern-theme';
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'dark', dark: 'light', light: 'system' };

function chosenTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Applies what was chosen in this browser; without a choice the page follows the system. */
export function applyTheme(): void {
  const theme = chosenTheme();
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
}

/** Changes between dark, light, and what the system says. */
export function ThemeButton() {
  const [theme, setTheme] = useState(chosenTheme);
  const change = () => {
    const next = NEXT[theme];
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    applyTheme();
    setTheme(next);
  };
  return (
    <button type="button" class="theme" onClick={change} aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {theme === 'light' ? (
          <path d="M10 6a4 4 0 1 0 0 8a4 4 0 1 0 0-8M10 1v2M10 17v2M1 10h2M17 10h2M3.6 3.6l1.5 1.5M14.9 14.9l1.5 1.5M3.6 16.4l1.5-1.5M14.9 5.1l1.5-1.5" />
        ) : theme === 'dark' ? (
          <path d="M16 12.5A7 7 0 0 1 7.5 4a7 7 0 1 0 8.5 8.5z" />
        ) : (
          <path d="M3 4h14v9H3zM7 17h6M10 13v4" />
        )}
      </svg>
    </button>
  );
}
