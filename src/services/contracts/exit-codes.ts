/**
 * What exit codes of a run mean that come from the virtual machine, or that contracts have agreed on. Others a contract
 * gives meanings of its own.
 */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0, 'it ended without having accepted the message, as a contract does that takes none from outside'],
  [1, 'it ended without having accepted the message, as a contract does that takes none from outside'],
  [2, 'stack underflow: there were fewer values than an instruction takes'],
  [3, 'stack overflow'],
  [4, 'integer overflow, or a division by zero'],
  [5, 'an integer was out of its range'],
  [6, 'an instruction that there is not'],
  [7, 'a value was of another type than expected'],
  [8, 'cell overflow: more was written into a cell than it holds'],
  [9, 'cell underflow: the message, or the data of the contract, is shorter than what the code reads'],
  [10, 'a dictionary was not as expected'],
  [11, 'the contract has no code for messages from outside, or does not know what the message asks for'],
  [12, 'an error that should not be possible'],
  [13, 'out of gas'],
  [14, 'out of gas'],
  [-14, 'out of gas before it accepted the message: until then it may use 10,000 units at most'],
  [0xffff, 'the contract does not know what the message asks for'],
]);

/** What an exit code means wherever it comes from; null where only the contract knows. */
export function meaningOfExitCode(code: number): string | null {
  return MEANINGS.get(code) ?? null;
}
