// A browser for the explorer and for the page of the API reference.
import process from 'node:process';

/** Chromium without the parts that draw a window: the checks of the explorer take a quarter less time. */
const SHELL = 'chromium-headless-shell';

/** With what it was tried to install the shell: where there is none, each suite would try again. */
const tried = new WeakSet();

const COMMANDS = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The command of a browser without a window; installed from the packages of the system where that is possible. Where there is no
 * package of the shell, a whole browser does.
 * @param {import('../python-venv.mjs').Run} run
 * @param {boolean} mayInstall whether this process may install packages
 * @returns {{ browser: string } | { problem: string }}
 */
export function prepareBrowser(run, mayInstall = process.getuid?.() === 0) {
  const found = findBrowser(run);
  if (found === SHELL) return { browser: found };
  const canInstall = mayInstall && run('apt-get', ['--version']).ok;
  const install = (/** @type {string} */ name) => run('apt-get', ['install', '-y', '--no-install-recommends', name]);
  if (canInstall && !tried.has(run)) {
    tried.add(run);
    run('apt-get', ['update']);
    install(SHELL);
  }
  const better = findBrowser(run);
  if (better !== null) return { browser: better };
  const wanted = 'there is no Chromium: install it (on Debian: apt-get install chromium)';
  if (!canInstall) return { problem: wanted };
  const installed = install('chromium');
  const browser = findBrowser(run);
  return browser === null ? { problem: `${wanted}; apt-get said: ${installed.output.slice(-500)}` } : { browser };
}

/**
 * @param {import('../python-venv.mjs').Run} run
 * @returns {string | null}
 */
function findBrowser(run) {
  return COMMANDS.find((command) => run(command, ['--version']).ok) ?? null;
}
