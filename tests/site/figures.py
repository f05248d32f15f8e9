"""A figure as tests speak of it: its state, its words, its controls.

Waiting is on the page's own signs, never on time.
"""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

__all__ = ["Figure", "count_workers", "worker_count"]

TOLD = ("retry", "stop", "dismiss")  # buttons a notice brings with it, also where the element never came to be
READY_MS = 60_000  # a cold start of Python on a busy machine


class Figure:
    """The figure `id` of a page."""

    def __init__(self, page: Page, id: str) -> None:
        self.page, self.id = page, id
        self.root = page.locator(f"sd-widget#{id}")
        self.notice = self.root.locator(".sd-notice")
        self.words = self.root.locator(".sd-state")

    def part(self, name: str) -> Locator:
        return self.root.locator(f"[data-part={name}]")

    def control(self, name: str) -> Locator:
        return self.root.locator(f"[data-param={name}]")

    def slider(self, name: str) -> Locator:
        return self.control(name).locator(".sd-range")

    def button(self, what: str) -> Locator:
        """A button; those the page was built with are found once the script hears them, so that no click is lost."""
        heard = "" if what in TOLD else ":defined"
        return self.page.locator(f"sd-widget#{self.id}{heard} [data-do={what}]")

    def load_anew(self) -> None:
        """Press Retry where it loads the page as a whole. Any navigation is no sign: Material notes the scroll as one."""
        with self.page.expect_event("domcontentloaded"):
            self.button("retry").click()

    def is_state(self, state: str) -> None:
        expect(self.root).to_have_attribute("data-state", state, timeout=READY_MS)

    def says(self, summary: str) -> None:
        expect(self.part("summary")).to_have_text(summary, timeout=READY_MS)

    def tells(self, text: str) -> None:
        expect(self.notice).to_contain_text(text, timeout=READY_MS)

    def is_readable(self) -> None:
        """The lesson and the figure as they were built are there to be read."""
        expect(self.page.locator("h1")).to_be_visible()
        assert self.page.locator("article p:visible").count() > 5
        expect(self.part("title")).to_be_visible()
        expect(self.part("summary")).not_to_be_empty()
        expect(self.words).not_to_be_empty()

    def fails(self, text: str) -> None:
        """It says what failed, waits for nothing, and the page is there to be read."""
        self.tells(text)
        self.is_state("failed")
        expect(self.notice.get_by_text("still working")).to_have_count(0)
        self.is_readable()

    def is_alive(self, summary: str) -> None:
        """It has answered, and there is nothing left to tell."""
        self.says(summary)
        self.is_state("live")
        expect(self.notice).to_be_hidden()

    def press(self, name: str, *keys: str) -> None:
        """Keys on a slider, as a reader without a mouse presses them."""
        self.slider(name).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def stop(self) -> float:
        """Press Stop; milliseconds until the figure says that it has stopped, on the page's own clock."""
        self.root.locator("[data-do=stop]").wait_for(timeout=READY_MS)
        return float(
            self.root.evaluate(
                """(figure) => new Promise((done) => {
                  const began = performance.now();
                  figure.querySelector("[data-do=stop]").click();
                  const wait = () => {
                    if (/Stopped/.test(figure.textContent)) done(performance.now() - began);
                    else requestAnimationFrame(wait);
                  };
                  wait();
                })"""
            )
        )

    def set(self, name: str, index: int) -> None:
        """Put a slider on a stop at once."""
        self.slider(name).fill(str(index))


def count_workers(page: Page) -> None:
    """Before the page is opened: keep every Python worker it makes where tests can count and kill them."""
    page.add_init_script(
        """
        window.pythons = [];
        const Plain = Worker;
        window.Worker = class extends Plain {
          constructor(url, options) {
            super(url, options);
            if (String(url).endsWith("/worker.js")) window.pythons.push(this);
          }
        };
        """
    )


def worker_count(page: Page) -> int:
    """How many Python workers this page has made since it was loaded as a whole."""
    return int(page.evaluate("window.pythons.length"))
