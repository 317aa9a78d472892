import { type Command, Option } from 'commander';
import { flagOf, type Setting, type SettingTable, variableOf } from '#app/config/setting.js';

/** Gives a command a flag for each setting of a table; values stay text, to be read by `readSettings`. */
export function addSettings(command: Command, table: SettingTable): Command {
  for (const [name, setting] of Object.entries(table)) command.addOption(optionOf(name, setting));
  return command;
}

function optionOf(name: string, setting: Setting<unknown>): Option {
  const { fallback, meaning, placeholder, isList, isRequired } = setting;
  const notes = [
    ...(isRequired ? ['required'] : []),
    ...(isList ? ['may be repeated'] : []),
    ...(fallback.length > 0 ? [`default: ${fallback.join(', ')}`] : []),
    variableOf(name),
  ];
  const option = new Option(`${flagOf(name)} <${placeholder}>`, `${meaning} [${notes.join('; ')}]`);
  if (!isList) return option;
  return option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
}
