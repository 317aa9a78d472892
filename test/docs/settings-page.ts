import { flagOf, type Setting, type SettingTable, variableOf } from '#app/config/setting.js';
import {
  backfillSettings,
  checkSettings,
  devSettings,
  localnetSettings,
  migrateSettings,
  serveSettings,
} from '#app/config/settings.js';

const all: SettingTable = serveSettings;

const introduction = `# Settings

Every setting is a flag and an environment variable; a flag overrides the environment, which overrides the default. Repeat
the flag of a repeatable setting, or separate the values of its variable by commas. Empty variables count as not set.
\`tern config --print\` accepts the flags of \`tern serve\` and prints the resulting values with their origins; secrets are not
shown.

This page is written by \`npm run docs:config\` from the tables in \`src/app/config/settings.ts\`; a test compares the two.
`;

/** The text of docs/config.md. */
export function settingsPage(): string {
  const parts = [
    section('tern serve', serveSettings),
    section(
      'tern dev',
      Object.fromEntries(Object.entries(devSettings).filter(([name, setting]) => all[name] !== setting)),
      `Otherwise it has those of \`tern serve\`, without ${without()}.`,
    ),
    section('tern localnet', localnetSettings),
    section('tern index', backfillSettings),
    section('tern check', checkSettings),
    section('tern migrate', migrateSettings),
  ];
  return introduction + parts.join('');
}

function without(): string {
  const missing = Object.keys(serveSettings).filter((name) => !Object.hasOwn(devSettings, name));
  const flags = missing.map((name) => `\`${flagOf(name)}\``);
  return `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`;
}

function section(title: string, table: SettingTable, remark?: string): string {
  const rows = Object.entries(table).map(([name, setting]) => row(name, setting));
  const lines = ['| flag | variable | default | what it does | accepted |', '|---|---|---|---|---|', ...rows, ''];
  return `\n## ${title}\n\n${remark === undefined ? '' : `${remark}\n\n`}${lines.join('\n')}`;
}

function row(name: string, setting: Setting<unknown>): string {
  const { placeholder, fallback, meaning, accepted, isList, isRequired, isSecret } = setting;
  const usual = fallback.map((text) => `\`${text}\``).join(', ');
  const notes = [
    ...(isList ? ['Repeatable.'] : []),
    ...(isRequired ? ['Required.'] : []),
    ...(isSecret ? ['Never shown.'] : []),
  ];
  const what = [`${meaning[0]!.toUpperCase()}${meaning.slice(1)}.`, ...notes].join(' ');
  const cells = [`\`${flagOf(name)} ${placeholder}\``, `\`${variableOf(name)}\``, usual, what, accepted];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
