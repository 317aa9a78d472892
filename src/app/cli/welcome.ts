/** What `tern` says without a command, which is also `npm start` until there is an API to start. */
export function welcome(): string {
  return `Tern reads TON data: fast, strictly, and with proof.

What works today
  cells     every BoC form, exotic cells, hashes and depths of every level, dictionaries, Merkle proofs and updates
  TL-B      blocks, states, accounts, transactions, messages, the config and everything inside them
  proofs    key-block chains and their signatures, shard blocks, accounts, transactions, config, libraries
  nodes     the lite protocol on both sides, a pool of liteservers, verified reads, recorded chains served as a node

Try it
  tern decode vectors/examples/masterchain-block.boc --tree   a mainnet block as a tree
  tern decode vectors/examples/config-proof.boc               a proof, checked, and what it proves, as JSON
  tern replay vectors/mainnet-genesis --to 9                  the first blocks of mainnet, served as a liteserver

In a checkout the command is node bin/tern.js. The HTTP API comes with a later release.
`;
}
