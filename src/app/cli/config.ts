import { Command } from 'commander';
import { addSettings, type CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { flagOf, type GivenSettings, readSettings, type SettingText } from '#app/config/setting.js';
import { serveSettings } from '#app/config/settings.js';

/** `tern config --print`: prints the resulting settings of `tern serve`. */
export function configCommand(environment: CliEnvironment): Command {
  const command = new Command('config')
    .description('show the settings of tern serve that result from flags and environment variables')
    .option('--print', 'print each setting of tern serve with value and origin; secrets are not shown')
    .action((given: GivenSettings['flags'] & { readonly print?: true }, self: Command) => {
      if (given.print === undefined) throw cliErrors.usage({ problem: 'tern config requires --print' });
      // Printing requires no setting.
      const table = Object.fromEntries(
        Object.entries(serveSettings).map(([name, setting]) => [name, { ...setting, isRequired: false }]),
      );
      const { print: _, ...flags } = given;
      const { writeOut } = self.configureOutput();
      writeOut?.(settingsText(readSettings(table, { flags, environment }).texts));
    });
  return addSettings(command, serveSettings);
}

/** One line per setting and value. */
function settingsText(settings: readonly SettingText[]): string {
  const rows = settings.flatMap(({ name, origin, texts }) => {
    const isSecret = serveSettings[name as keyof typeof serveSettings].isSecret;
    const shown = texts.length === 0 ? ['-'] : texts.map((text) => (isSecret ? '(secret)' : text));
    return shown.map((text) => [flagOf(name), text, origin] as const);
  });
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const [names, values] = [width(0), width(1)];
  return rows.map(([name, text, origin]) => `${name.padEnd(names)}  ${text.padEnd(values)}  ${origin}\n`).join('');
}
