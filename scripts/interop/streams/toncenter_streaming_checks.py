"""Follows accounts of a running local network with the streaming clients of the package toncenter, over SSE and WebSocket.

python toncenter_streaming_checks.py URL: prints one JSON object a line, {"name", "ok", "detail"}.
"""

import asyncio
import json
import sys

import aiohttp
from toncenter.exceptions import ToncenterBadRequestError
from toncenter.streaming import ToncenterSSE, ToncenterWebSocket
from toncenter.types import Network, ReconnectPolicy

URL = sys.argv[1]
TRANSFERS = 4
LIMIT_S = 60
RANKS = {"pending": 0, "confirmed": 1, "finalized": 2}
ONCE = ReconnectPolicy(max_reconnects=0)


def same(expected, found, what):
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def account(number):
    return f"0:{number:064X}"


async def transfer(session, to):
    async with session.post(f"{URL}/localnet/faucet", json={"address": to, "amount": "1000000000"}) as answer:
        same(200, answer.status, "status of the faucet")


async def indexed(session, of, count):
    """Hashes of the transactions of an account, when there are as many."""
    while True:
        async with session.get(f"{URL}/api/v3/transactions", params={"account": of, "sort": "asc"}) as answer:
            found = [each["hash"] for each in (await answer.json())["transactions"]]
        if len(found) >= count:
            return found
        await asyncio.sleep(0.1)


def final_hashes(events, of):
    return [
        each["hash"]
        for event in events
        if event.type == "transactions" and event.is_finalized
        for each in event.transactions
        if each["account"] == of
    ]


def same_order(events):
    """Of each trace and kind, finality does not fall."""
    seen = {}
    for event in events:
        norm = getattr(event, "trace_external_hash_norm", None)
        if norm is None or event.type == "trace_invalidated":
            continue
        rank = RANKS[event.finality]
        if rank < seen.get((event.type, norm), 0):
            raise AssertionError(f"{event.type} of {norm} is {event.finality} after something more certain")
        seen[(event.type, norm)] = rank


async def follow(client, session, of):
    """All events of an account during some transfers to it."""
    events = []
    stop = asyncio.Event()
    await client.create_session()

    async def read():
        wanted = {"types": ["transactions", "actions", "account_state_change"], "min_finality": "pending"}
        options = {"include_address_book": True, "include_metadata": True}
        async for event in client.subscribe(addresses=[of], stop=stop, **wanted, **options):
            events.append(event)

    reading = asyncio.create_task(read())
    try:
        await client.wait_subscribed(LIMIT_S)
        for _ in range(TRANSFERS):
            await transfer(session, of)

        def is_whole():
            final = [each for each in events if getattr(each, "finality", "") == "finalized"]
            actions = sum(len(each.actions) for each in final if each.type == "actions")
            states = sum(1 for each in final if each.type == "account_state_change")
            return len(final_hashes(events, of)) >= TRANSFERS and actions >= TRANSFERS and states >= 1

        while not is_whole():
            if reading.done():
                reading.result()
            await asyncio.sleep(0.05)
    finally:
        stop.set()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await client.close_session()
    return events


async def check_events(session, client, of):
    events = await asyncio.wait_for(follow(client, session, of), LIMIT_S)
    expected = await indexed(session, of, TRANSFERS)
    same(sorted(expected), sorted(final_hashes(events, of)), "finalized transactions")
    same_order(events)
    book = next(each.address_book for each in events if each.type == "transactions" and each.is_finalized)
    same(True, of in book, "whether the address book has the account")
    return f"{len(events)} events, {len(expected)} transactions as in the index"


async def check_change(session, client):
    """A subscription that is changed while the connection stays."""
    first, second = account(0x5103), account(0x5104)
    events = []
    client.on_transactions(events.append)
    running = asyncio.create_task(client.start([first]))
    try:
        await client.wait_subscribed(LIMIT_S)
        await client.dynamic_subscribe(addresses=[first, second], types=["transactions"])
        for to in (first, second):
            await transfer(session, to)
        while not (final_hashes(events, first) and final_hashes(events, second)):
            await asyncio.sleep(0.05)
        await client.dynamic_unsubscribe(addresses=[first])
        for to in (first, second):
            await transfer(session, to)
        while len(final_hashes(events, second)) < 2:
            await asyncio.sleep(0.05)
        await indexed(session, first, 2)
        same(1, len(final_hashes(events, first)), "transactions of the account that was left")
    finally:
        await client.stop()
        await asyncio.gather(running, return_exceptions=True)
    return f"{len(events)} events"


async def check_refusal(session, client):
    await client.create_session()
    try:
        async for _ in client.subscribe(addresses=["nowhere"], types=["transactions"]):
            raise AssertionError("an event came")
        raise AssertionError("the stream ended")
    except ToncenterBadRequestError as error:
        same(True, "nowhere" in str(error), "whether the refusal names the address")
        return str(error)
    finally:
        await client.close_session()


def client_of(kind, **options):
    return kind("", Network.TESTNET, base_url=f"{URL}/toncenter", **options)


async def main():
    async with aiohttp.ClientSession() as session:
        checks = {
            "events over SSE": check_events(session, client_of(ToncenterSSE), account(0x5101)),
            "events over WebSocket": check_events(session, client_of(ToncenterWebSocket), account(0x5102)),
            "a subscription that changes": check_change(session, client_of(ToncenterWebSocket)),
            "a wrong address": check_refusal(session, client_of(ToncenterSSE, reconnect_policy=ONCE)),
        }
        for name, check in checks.items():
            try:
                line = {"name": name, "ok": True, "detail": await asyncio.wait_for(check, LIMIT_S)}
            except Exception as error:  # each check by itself: all of them are to be seen
                line = {"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"[:2000]}
            print(json.dumps(line), flush=True)


asyncio.run(main())
