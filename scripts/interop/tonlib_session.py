"""Hands requests to the tonlib that the package pytonlib ships, and its answers back.

Usage: tonlib_session.py GLOBAL_CONFIG KEYSTORE_FOLDER
Reads one JSON object a line: {"id": N, "request": {...}, "timeout": SECONDS}. Writes, in the order in which answers come,
{"id": N, "answer": {...}} (an error of tonlib is an answer too) or {"id": N, "failure": "..."}. Ends with its input.
"""

import asyncio
import importlib.util
import json
import sys

LONGEST_LINE = 64 * 1024 * 1024


def load_tonlib_class():
    """pytonlib.tonlibjson without the rest of pytonlib, which wants packages that have to be compiled."""
    spec = importlib.util.find_spec("pytonlib")
    sys.modules["pytonlib"] = importlib.util.module_from_spec(spec)
    from pytonlib.tonlibjson import TonLib, TonlibError

    return TonLib, TonlibError


def write(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def answer(tonlib, tonlib_error, line):
    try:
        result = await tonlib.execute(line["request"], timeout=line["timeout"])
    except tonlib_error as error:
        result = error.result
    except Exception as error:  # no answer in time, or tonlib has ended
        write({"id": line["id"], "failure": str(error) or repr(error)})
        return
    result.pop("@extra", None)
    write({"id": line["id"], "answer": result})


def init_request(config, keystore):
    return {
        "@type": "init",
        "options": {
            "@type": "options",
            "config": {
                "@type": "config",
                "config": config,
                "use_callbacks_for_network": False,
                "blockchain_name": "",
                "ignore_cache": False,
            },
            "keystore_type": {"@type": "keyStoreTypeDirectory", "directory": keystore},
        },
    }


async def main(config_file, keystore):
    tonlib_class, tonlib_error = load_tonlib_class()
    with open(config_file, encoding="utf-8") as file:
        config = file.read()
    loop = asyncio.get_running_loop()
    tonlib = tonlib_class(loop, 0)
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    await answer(tonlib, tonlib_error, {"id": 0, "request": init_request(config, keystore), "timeout": 30})
    asked = set()
    while line := await lines.readline():
        task = asyncio.create_task(answer(tonlib, tonlib_error, json.loads(line)))
        asked.add(task)
        task.add_done_callback(asked.discard)
    await tonlib.close()
    if asked:
        await asyncio.wait(asked, timeout=5)


asyncio.run(main(sys.argv[1], sys.argv[2]))
