// A browser for the page of the API reference.
import process from 'node:process';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The command of a browser without a window; installed from the packages of the system where that is possible.
 * @param {import('../python-venv.mjs').Run} run
 * @param {boolean} mayInstall whether this process may install packages
 * @returns {{ browser: string } | { problem: string }}
 */
export function prepareBrowser(run, mayInstall = process.getuid?.() === 0) {
  const found = findBrowser(run);
  if (found !== null) return { browser: found };
  const wanted = 'there is no Chromium: install it (on Debian: apt-get install chromium)';
  if (!mayInstall || !run('apt-get', ['--version']).ok) return { problem: wanted };
  run('apt-get', ['update']);
  const installed = run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']);
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
