"""Reads from a running Tern with the toncenter client of tonutils, and compares with what the chain holds.

python tonutils_checks.py URL TRUTH.json: prints one JSON object a line, {"name", "ok", "detail"}.
"""

import asyncio
import base64
import json
import sys

from ton_core import Cell, NetworkGlobalID
from tonutils.clients import ToncenterClient
from tonutils.exceptions import RunGetMethodError


def b64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def root_hash(boc) -> str:
    return b64(Cell.one_from_boc(boc).hash) if boc else ""


def same(expected, found, what):
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


async def check_accounts(client, truth):
    for account in truth["accounts"]:
        info = await client.get_info(account["address"])
        name = account["address"]
        same(int(account["balance"]), info.balance, f"balance of {name}")
        state = {"uninitialized": "uninit"}.get(account["state"], account["state"])
        same(state, info.state.value, f"state of {name}")
        same(account["code_hash"], root_hash(info.code_raw), f"code of {name}")
        same(account["data_hash"], root_hash(info.data_raw), f"data of {name}")
        same(int(account["last_lt"]), info.last_transaction_lt or 0, f"last transaction of {name}")
    return f"{len(truth['accounts'])} accounts"


async def check_history(client, truth):
    history = truth["history"]
    address = history[0]["account"]
    found = await client.get_transactions(address, limit=100)
    same([t["lt"] for t in history], [str(t.lt) for t in found], f"history of {address}")
    same([t["hash"] for t in history], [b64(t.cell.hash) for t in found], f"hashes of {address}")
    middle = history[len(history) // 2]
    found = await client.get_transactions(address, limit=100, to_lt=int(middle["lt"]))
    same([t["lt"] for t in history[: len(history) // 2]], [str(t.lt) for t in found], "history down to the middle")
    return f"{len(history)} transactions"


async def check_config(client, truth):
    config = await client.get_config()
    same(sorted(map(int, truth["config_params"])), sorted(config), "numbers of the parameters")
    return f"{len(config)} parameters"


async def check_get_methods(client, truth):
    runs = 0
    for address in ("-1:" + "3" * 64, "-1:" + "5" * 64):
        for method in ("active_election_id", "seqno"):
            try:
                stack = await client.run_get_method(address, method)
            except RunGetMethodError:
                continue
            same(1, len(stack), f"results of {method}")
            runs += 1
    if runs == 0:
        raise AssertionError("no get-method of the elector or the configuration contract gave a result")
    return f"{runs} runs"


async def main(url, truth):
    client = ToncenterClient(NetworkGlobalID.TESTNET, base_url=f"{url}/api/v2", rps_limit=1000)
    await client.connect()
    checks = {
        "account states": check_accounts,
        "transactions of an account": check_history,
        "configuration": check_config,
        "get-methods": check_get_methods,
    }
    try:
        for name, check in checks.items():
            try:
                print(json.dumps({"name": name, "ok": True, "detail": await check(client, truth)}), flush=True)
            except Exception as error:  # each check by itself: all of them are to be seen
                detail = f"{type(error).__name__}: {error}"
                print(json.dumps({"name": name, "ok": False, "detail": detail}), flush=True)
    finally:
        await client.close()


with open(sys.argv[2], encoding="utf-8") as file:
    asyncio.run(main(sys.argv[1], json.load(file)))
