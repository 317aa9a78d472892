"""What the checks of Python clients of API v3 have in common: the truth, comparing, and lines of JSON."""

import json
import sys


class Truth:
    """Facts of the chain; see v3-truth.ts."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.facts = json.load(file)
        self.transactions = self.facts["transactions"]

    def __getitem__(self, name):
        return self.facts[name]

    def transaction(self, hash_):
        return self.transactions[hash_]

    def status(self, account):
        """As the index calls it."""
        return {"uninitialized": "uninit"}.get(account["state"], account["state"])


def same(expected, found, what):
    if expected != found:
        raise AssertionError(f"{what}: expected {short(expected)}, found {short(found)}")


def short(value):
    text = repr(value)
    return text if len(text) < 200 else text[:197] + "..."


def none_or(convert, value):
    return None if value is None else convert(value)


def shard_hex(shard):
    """Of a signed decimal number, as the live service writes it."""
    return f"{int(shard) & (1 << 64) - 1:X}"


def opcode_hex(opcode):
    return none_or(lambda value: f"0x{value:08x}", opcode)


def same_block(fact, block, mc_seqno):
    name = f"block {fact['seqno']} of {fact['shard']}"
    for field in ("workchain", "seqno", "root_hash", "file_hash", "tx_count", "key_block"):
        same(fact[field], getattr(block, field), f"{field} of {name}")
    for field in ("gen_utime", "start_lt", "end_lt"):
        same(int(fact[field]), int(getattr(block, field)), f"{field} of {name}")
    same(shard_hex(fact["shard"]), block.shard, f"shard of {name}")
    same(mc_seqno, block.masterchain_block_ref.seqno, f"committed {name}")


def same_message(fact, message, of):
    name = f"message {fact['hash']} of {of}"
    for field in ("hash", "source", "destination", "bounce", "bounced"):
        same(fact[field], getattr(message, field), f"{field} of {name}")
    for field in ("value", "created_lt", "created_at"):
        same(none_or(int, fact[field]), none_or(int, getattr(message, field)), f"{field} of {name}")
    same(opcode_hex(fact["opcode"]), message.opcode, f"opcode of {name}")
    same(fact["body_hash"], message.message_content.hash, f"body of {name}")


def same_transaction(fact, transaction):
    name = f"transaction {fact['hash']}"
    same(fact["account"], raw(transaction.account), f"account of {name}")
    for field in ("hash", "now", "orig_status", "end_status"):
        same(fact[field], getattr(transaction, field), f"{field} of {name}")
    for field in ("lt", "total_fees"):
        same(int(fact[field]), int(getattr(transaction, field)), f"{field} of {name}")
    same(fact["prev_hash"], transaction.prev_trans_hash, f"prev_trans_hash of {name}")
    same(int(fact["prev_lt"]), int(transaction.prev_trans_lt), f"prev_trans_lt of {name}")
    same(fact["mc_seqno"], transaction.mc_block_seqno, f"mc_block_seqno of {name}")
    block, ref = fact["block"], transaction.block_ref
    expected = (block["workchain"], shard_hex(block["shard"]), block["seqno"])
    same(expected, (ref.workchain, ref.shard, ref.seqno), f"block of {name}")
    same(fact["in_msg"] is None, transaction.in_msg is None, f"whether {name} has an incoming message")
    if fact["in_msg"] is not None:
        same_message(fact["in_msg"], transaction.in_msg, name)
    same(len(fact["out_msgs"]), len(transaction.out_msgs), f"number of outgoing messages of {name}")
    for message in fact["out_msgs"]:
        found = [each for each in transaction.out_msgs if each.hash == message["hash"]]
        same(1, len(found), f"outgoing messages {message['hash']} of {name}")
        same_message(message, found[0], name)


def raw(address):
    """Of a text, or of pytoncenter's class of addresses."""
    return (address if isinstance(address, str) else address.to_string(False)).upper()


def same_transactions(truth, hashes, found, what):
    same(list(hashes), [each.hash for each in found], what)
    for transaction in found:
        same_transaction(truth.transaction(transaction.hash), transaction)


async def run_checks(checks, *args):
    """Runs each check by itself, as all of them are to be seen, and prints a line for each."""
    for name, check in checks.items():
        try:
            line = {"name": name, "ok": True, "detail": await check(*args)}
        except Exception as error:
            line = {"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(line), flush=True)


def arguments():
    """Where the server is, and the truth."""
    return sys.argv[1], Truth(sys.argv[2])
