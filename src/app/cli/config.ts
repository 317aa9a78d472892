import { Command } from 'commander';
import { addSettings, type CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { flagOf, type GivenSettings, readSettings, type SettingText } from '#app/config/setting.js';
import { serveSettings } from '#app/config/settings.js';

/** `tern config --print`: what the settings of `tern serve` come to. */
export function configCommand(environment: CliEnvironment): Command {
  const command = new Command('config')
    .description('show what flags and environment variables come to, for tern serve')
    .option('--print', 'print each setting of tern serve, its value and where it comes from; secrets are not shown')
    .action((given: GivenSettings['flags'] & { readonly print?: true }, self: Command) => {
      if (given.print === undefined) throw cliErrors.usage({ problem: 'tern config does nothing without --print' });
      // To look at settings, none has to be given.
      const table = Object.fromEntries(
        Object.entries(serveSettings).map(([name, setting]) => [name, { ...setting, isRequired: false }]),
      );
      const { print: _, ...flags } = given;
      const { writeOut } = self.configureOutput();
      writeOut?.(settingsText(readSettings(table, { flags, environment }).texts));
    });
  return addSettings(command, serveSettings);
}

/** A line for each setting; several values on lines of their own. */
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
