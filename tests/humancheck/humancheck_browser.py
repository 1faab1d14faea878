"""A person at the page in a real browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit


class BrowserPerson:
    """A person at the page in a browser."""

    def __init__(self, browser: Any, link: str, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.link = link
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("request", self._listen)
        self.page.goto(link)

    def _listen(self, request: Any) -> None:
        """The page works offline: it asks nobody but the check itself."""
        if urlsplit(request.url).netloc != urlsplit(self.link).netloc:
            self.errors.append(f"a request leaves the page: {request.url}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.wait_for_selector("body[data-ready]")
            if self.page.query_selector("article"):
                self.page.wait_for_selector("article[data-ready]")
            self.page.keyboard.press(key)
            self.page.wait_for_selector("body:not(.busy)")

    def answer(self, key: str) -> None:
        """Press a key, and wait for the next question and until the answer is stored."""
        before = self.key
        self.press(key)
        self.page.wait_for_selector(f"article:not([data-key='{before}']), .done")
        self.wait_until_stored()

    def wait_until_stored(self) -> None:
        """Wait until nothing is on its way any more."""
        self.page.wait_for_selector(".last.pending", state="detached")

    def load(self, target: Any) -> None:
        """Click what a selector or locator names, and wait for the page that it loads: a click alone does not wait."""
        with self.page.expect_navigation():
            (self.page.locator(target) if isinstance(target, str) else target).click()

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def follow(self, selector: str) -> None:
        """Go to a link by the Tab key alone, and follow it."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                break
        else:
            raise AssertionError(f"the Tab key does not reach {selector}")
        self.page.keyboard.press("Enter")

    def is_in_sight(self, selector: str) -> bool:
        """Whether the middle of an element is on the screen and nothing covers it."""
        return self.page.evaluate(
            """selector => {
              const element = document.querySelector(selector);
              const { left, right, top, bottom } = element.getBoundingClientRect();
              const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
              const box = element.closest(".tree, .sentence, .beside ol") || element;
              return Boolean(found) && (element.contains(found) || (box.contains(found) && found.contains(element)));
            }""",
            selector,
        )

    @property
    def key(self) -> str:
        return self.page.get_attribute("article", "data-key") if self.page.query_selector("article") else ""

    @property
    def count(self) -> str:
        return self.page.inner_text("#count")

    def close(self) -> None:
        self.context.close()
