"""Reads from a local network with the lite client of tonutils, and sends, and compares with what is known of the network.

python tonutils_lite_checks.py GLOBAL_CONFIG TRUTH.json: prints one JSON object a line, {"name", "ok", "detail"}.
"""

import asyncio
import json
import sys
import traceback

from ton_core import Address, DNSCategory, NetworkGlobalID
from tonutils.clients import LiteBalancer, LiteClient
from tonutils.contracts.wallet import WalletV5R1


def same(expected, found, what):
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def raw(address):
    return Address(address).to_str(is_user_friendly=False).upper()


def seeded(truth, kind):
    return next(item["address"] for item in truth["seeded"] if item["kind"] == kind)


async def check_head(client, truth):
    info = await client.get_masterchain_info()
    assert info.last.seqno >= truth["status"]["head"]["seqno"], f"head is {info.last.seqno}"
    shards = await client.get_all_shards_info()
    same([0] * len(shards), [shard.workchain for shard in shards], "workchains of the shards")
    now = await client.get_time()
    assert abs(now - truth["status"]["now"]) < 120, f"time is {now}"
    return f"block {info.last.seqno}, {len(shards)} shards"


async def check_accounts(client, truth):
    for wallet in truth["wallets"]:
        info = await client.get_info(wallet["address"])
        assert info.balance > 10**14, f"balance of {wallet['address']} is {info.balance}"
        same("active", info.state.value, f"state of {wallet['address']}")
    nobody = await client.get_info("0:" + "99" * 32)
    same(0, nobody.balance, "balance of nobody")
    return f"{len(truth['wallets'])} wallets"


async def check_get_method(client, truth):
    threshold = (await client.run_get_method(seeded(truth, "multisig"), "get_multisig_data"))[1]
    same(2, threshold, "threshold of the multisig")
    return "the multisig needs 2 approvals"


async def check_dns(client, truth):
    record = await client.dnsresolve("example.ton", DNSCategory.WALLET)
    owner = record.value if hasattr(record, "value") else record
    same(seeded(truth, "extra_currency"), raw(owner), "wallet of example.ton")
    return "example.ton is resolved from parameter 4 on"


async def check_transfer(client, truth):
    known = next(w for w in truth["wallets"] if w["version"] == "v5r1" and w["mnemonic"])
    wallet, *_ = WalletV5R1.from_mnemonic(client, known["mnemonic"], validate=False)
    same(known["address"], raw(wallet.address), "address of the wallet")
    receiver = "0:" + "98" * 32
    await wallet.transfer(destination=receiver, amount=1_250_000_000, body="by tonutils", bounce=False)
    for _ in range(100):
        if (await client.get_info(receiver)).balance > 0:
            break
        await asyncio.sleep(0.1)
    same(1_250_000_000, (await client.get_info(receiver)).balance, "what arrived")
    [transaction] = await client.get_transactions(receiver, limit=5)
    same(1_250_000_000, transaction.in_msg.info.value_coins, "value of the message")
    return "1.25 TON"


CHECKS = [
    ("head, shards and time", check_head),
    ("accounts", check_accounts),
    ("a get-method", check_get_method),
    ("DNS", check_dns),
    ("a transfer", check_transfer),
]


async def main(config, truth):
    async def run_all(name_of, client, checks):
        async with client:
            for name, check in checks:
                try:
                    line = {"name": name_of(name), "ok": True, "detail": await check(client, truth)}
                except Exception as error:
                    where = traceback.format_exc(limit=-1).strip().splitlines()
                    line = {"name": name_of(name), "ok": False, "detail": f"{error!r} {where[-2:]}"}
                print(json.dumps(line), flush=True)

    client = LiteClient.from_config(NetworkGlobalID.MAINNET, config=config, index=0)
    await run_all(lambda name: name, client, CHECKS)
    balancer = LiteBalancer.from_config(NetworkGlobalID.MAINNET, config=config)
    await run_all(lambda name: f"{name}, through the balancer", balancer, CHECKS[:4])


with open(sys.argv[1]) as config_file, open(sys.argv[2]) as truth_file:
    CONFIG, TRUTH = json.load(config_file), json.load(truth_file)
asyncio.run(main(CONFIG, TRUTH))
