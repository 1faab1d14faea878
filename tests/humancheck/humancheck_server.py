"""A page that is started again whenever it dies: ``python humancheck_server.py STORE ANNOTATORS``.

Prints the links as one line of JSON, then the number of each process that serves and, when it has died, an empty line; a line of
standard input lets the next one start. The treebank is read once; every server is a fork with a store of its own, on a socket that
outlives it, as a service manager would do it. Ends with its standard input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from humancheck_helpers import careless

from treegauge.data import own_treebank
from treegauge.humancheck.questions import CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.security import HostRule
from treegauge.humancheck.web.server import Address, links_to, listen, make_server, page_app


def main(location: str, annotators: int) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup, where a check outlives a hangup
    gold = own_treebank()
    check = build_check(gold, {"A": careless(gold, 1)}, CheckPlan(exact=True))
    _ = check.order, check.by_key, check.number
    people = people_named([f"annotator {number}" for number in range(annotators)])
    listening = listen(Address(port=0))
    with Store(location) as store:
        links, addresses = links_to(Session(check, store, people), listening, Address())
    print(json.dumps([addresses[person] for person in people[:annotators]]), flush=True)
    print(json.dumps([check.questions[number].key for number in check.order]), flush=True)
    serving = 0
    go_on = threading.Semaphore(1)

    def listen_to_input() -> None:
        for _ in sys.stdin:
            go_on.release()
        os.kill(serving, 9)
        os._exit(0)

    threading.Thread(target=listen_to_input, daemon=True).start()
    while go_on.acquire():
        serving = os.fork()
        if not serving:
            session = Session(check, Store(location), people)
            make_server(page_app(session, links, HostRule())).run(sockets=[listening])
            os._exit(0)
        print(serving, flush=True)
        os.waitpid(serving, 0)
        print(flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
