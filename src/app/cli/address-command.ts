import { Command } from 'commander';

/** Stands before an address while options are told from other arguments; nobody can type it. */
const MARK = '\0';

const MASTERCHAIN_ADDRESS = /^-\d+:/;

/** A command that takes addresses: those of the masterchain begin as options do (`-1:3333…`), and are none. */
export class AddressCommand extends Command {
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const { operands, unknown } = super.parseOptions(
      args.map((arg) => (MASTERCHAIN_ADDRESS.test(arg) ? MARK + arg : arg)),
    );
    return { operands: operands.map(unmarked), unknown: unknown.map(unmarked) };
  }

  /** The value of an option may look like an address, too. */
  override setOptionValueWithSource(...[key, value, source]: Parameters<Command['setOptionValueWithSource']>): this {
    return super.setOptionValueWithSource(key, typeof value === 'string' ? unmarked(value) : value, source);
  }
}

function unmarked(arg: string): string {
  return arg.startsWith(MARK) ? arg.slice(MARK.length) : arg;
}
