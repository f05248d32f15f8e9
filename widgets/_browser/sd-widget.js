/**
 * <sd-widget>: a figure that was drawn when the page was built, and comes alive in the reader's hands.
 *
 * It listens to its controls, asks Python for the picture of their values, and puts the answer into its places. It
 * computes no number and draws nothing. Connect and disconnect come at every page change under instant navigation, in
 * any order and number, so all that is set up in one is taken down in the other by one AbortController.
 */

import { AddressWriter, readQuery } from "./address.js";
import { Baked } from "./baked.js";
import { controlsOf } from "./controls.js";
import { beside } from "./fetching.js";
import { ADDRESS, followStates } from "./links.js";
import { Notices } from "./notices.js";
import { Parts } from "./parts.js";
import { python } from "./python.js";

/** @typedef {import("./controls.js").Control} Control */
/** @typedef {import("./controls.js").Value} Value */
/** @typedef {import("./python.js").Reply} Reply */

const WORDS = {
  static: "Drawn when this page was built",
  baked: "Drawn in advance; starting Python…",
  starting: "Starting Python…",
  live: "Live: Python is answering",
  failed: "Python could not start",
};
const PATIENCE_MS = 1000; // then the figure says that it works, and offers Stop
const LONG_START_MS = 20000;
const GLANCE_MS = 500; // a figure scrolled past is not worth its answers

const writer = new AddressWriter();

class SdWidget extends HTMLElement {
  /** @type {AbortController | null} */
  #life = null;
  /** @type {Control[]} */
  #controls = [];
  /** @type {Record<string, Value>} the block's own values */
  #own = {};
  /** The page this figure stands on: another page's address is not its business. */
  #path = "";
  /** Values of the picture that is shown or asked for. */
  #asked = "";
  /** What was baked for this figure, to be shown until Python is there. */
  #baked = new Baked(undefined);
  /** Someone wants this figure alive: only then does a failed start concern it. */
  #wanted = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  connectedCallback() {
    if (this.#life || !this.querySelector("[data-part]")) return;
    const life = new AbortController();
    const { signal } = life;
    this.#life = life;
    this.#path = location.pathname;
    this.#own = JSON.parse(this.dataset.values ?? "{}");
    if (this.#baked.name !== (this.dataset.baked ?? "")) this.#baked = new Baked(this.dataset.baked);
    this.notices = new Notices(this.querySelector(".sd-notice"));
    this.parts = new Parts(this, signal);
    if (this.querySelector(".sd-detail")) import("./tokens.js").then(({ tellTokens }) => tellTokens(this, signal), () => {});
    this.#controls = controlsOf(this, { changed: () => this.#changed(), busy: () => python.busy(this), signal });
    // The picture belongs to the block's values, unless this element was here before and has been played with.
    this.#asked ||= JSON.stringify(this.#own);

    const intent = () => this.#want();
    for (const type of ["pointerenter", "pointerdown", "focusin", "touchstart"]) {
      this.addEventListener(type, intent, { signal, passive: true });
    }
    this.#glance(signal);
    this.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault(), { signal });
    this.querySelector("[data-do=reset]")?.addEventListener("click", () => this.#reset(), { signal });
    this.querySelector("[data-do=copy-link]")?.addEventListener("click", () => this.#copyLink(), { signal });
    for (const type of ["popstate", ADDRESS]) {
      addEventListener(type, () => {
        writer.drop(this.id); // it was meant for the entry that has just been left
        this.#readAddress();
      }, { signal });
    }
    addEventListener("pageshow", () => {
      writer.flush();
      this.#readAddress(); // browsers restore form fields by themselves, the picture not
    }, { signal });
    const unsubscribe = python.subscribe((state, text) => this.#follow(state, text));
    signal.addEventListener("abort", unsubscribe);

    for (const control of this.#controls) control.value = this.#own[control.name];
    // What a hand has moved before this script was there stays. Without a hand it was the browser, which remembers fields.
    const handy = navigator.userActivation?.hasBeenActive ?? this.matches(":focus-within");
    const moved = handy ? this.#controls.map((control) => ({ control, held: control.held() })) : [];
    this.#follow(python.state, "");
    this.#readAddress();
    if (this.matches(":focus-within")) this.#want();
    for (const { control, held } of moved) if (held !== this.#own[control.name]) control.choose(held);
  }

  disconnectedCallback() {
    this.#life?.abort();
    this.#life = null;
    clearTimeout(this.#timer);
    if (python.busy(this)) this.#asked = "nothing"; // should the element come back, it asks again
    python.forget(this);
    writer.drop(this.id);
  }

  /** Shows what the address says; what it says wrongly gets a note and is taken out of it. */
  #readAddress() {
    if (location.pathname !== this.#path) return;
    const entries = readQuery(location.search, this.id);
    /** @type {Map<string, Value>} */
    const given = new Map();
    /** @type {string[]} */
    const bad = [];
    for (const { name, text } of entries) {
      const control = this.#controls.find((one) => one.name === name && !one.private);
      if (!control) {
        bad.push(`There is no parameter “${name}” to set in the address.`);
        continue;
      }
      const read = control.read(text);
      const twice = entries.filter((other) => other.name === name).length > 1;
      if (twice) bad.push(`${control.label} stands in the address more than once; its own value is shown.`);
      else if ("problem" in read) bad.push(`${control.label}: ${sentence(read.problem)} Its own value is shown.`);
      else given.set(name, read.value);
    }
    for (const control of this.#controls) {
      control.show(control.private ? control.value : given.get(control.name) ?? this.#own[control.name]);
    }
    if (bad.length) {
      this.notices?.say("address", [...new Set(bad)].join(" "));
      this.#writeAddress();
    }
    if (JSON.stringify(this.#values()) !== this.#asked) this.#ask();
  }

  #writeAddress() {
    const open = this.#moved().filter((control) => !control.private);
    writer.put(this.id, open.map((control) => ({ name: control.name, text: control.text() })));
  }

  /** The controls that are not where the page has them. */
  #moved() {
    return this.#controls.filter(({ name, value }) => value !== this.#own[name]);
  }

  #values() {
    return Object.fromEntries(this.#controls.map(({ name, value }) => [name, value]));
  }

  /** The reader moved a control. */
  #changed() {
    this.notices?.drop("address");
    this.#writeAddress();
    this.#ask();
  }

  #reset() {
    for (const control of this.#controls) {
      control.rest();
      control.say("");
      control.show(this.#own[control.name]);
    }
    this.#changed();
  }

  #ask() {
    const values = this.#values();
    this.#asked = JSON.stringify(values);
    if (this.#showBaked()) {
      this.#want();
      return;
    }
    const held = this.#controls.flatMap(({ name, file }) => (file ? [[name, file]] : []));
    const files = held.length ? Object.fromEntries(held) : undefined;
    python.ask(this, this.dataset.widget ?? "", values, (reply) => this.#hear(reply), files);
    this.#want();
    this.#wait();
  }

  /** Answers from what was baked, if Python is still on its way and this state is there. */
  #showBaked() {
    if (python.state !== "off" && python.state !== "starting") return false;
    const moved = this.#moved();
    if (moved.some((control) => control.private)) return false;
    const parts = this.#baked.find(moved.map((control) => `${control.name}=${control.text()}`).join("&"));
    if (!parts) return false;
    python.forget(this); // an older question, for which Python is not there yet
    this.parts?.put(parts);
    this.#wanted = true;
    this.#state("baked");
    return true;
  }

  /** Fetches what was baked; an open question may be in it. */
  async #loadBaked() {
    await this.#baked.load();
    if (this.#life && python.busy(this)) this.#showBaked();
  }

  /** A figure that stays in view for a moment may be touched next. @param {AbortSignal} signal */
  #glance(signal) {
    if (!this.#baked.name || /** @type {any} */ (navigator).connection?.saveData) return;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      clearTimeout(timer);
      if (!isIntersecting) return;
      timer = setTimeout(() => {
        watch.disconnect();
        void this.#loadBaked();
      }, GLANCE_MS);
    });
    watch.observe(this.querySelector(".sd-controls") ?? this);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      watch.disconnect();
    });
  }

  /** @param {Reply} reply */
  #hear(reply) {
    if (reply.output) {
      this.notices?.say("output", reply.output);
      return;
    }
    if (reply.view) this.parts?.put(reply.view);
    if (reply.progress) {
      const { done, text } = reply.progress;
      this.#state("live", [text, done === null ? "" : `${Math.round(done * 100)} %`].filter(Boolean).join(" ") || WORDS.live);
      return;
    }
    this.#rested();
    if (!reply.error) {
      this.#state("live");
      this.notices?.drop("failure");
      return;
    }
    const { kind, message, param } = reply.error;
    const control = this.#controls.find(({ name }) => name === param);
    const still = "The picture still shows the last answer.";
    if (python.state === "ready") this.#state("live");
    if (kind === "stopped") {
      this.notices?.say("failure", `${message} ${still}`, [this.#again()]);
    } else if (control) {
      control.say(sentence(message));
    } else {
      this.#state("failed", "This figure could not be computed");
      this.notices?.say("failure", `This figure could not be computed: ${sentence(message)} ${still}`, [this.#again()]);
    }
  }

  /** Asks once more for what failed. */
  #again() {
    return { label: "Retry", run: async () => ((await outdated()) ? location.reload() : this.#ask()) };
  }

  /** From now on the answer is awaited; after a while the figure says so and can be stopped. */
  #wait() {
    clearTimeout(this.#timer);
    if (python.state !== "ready") return;
    this.#timer = setTimeout(() => {
      if (!python.busy(this)) return;
      const stop = () => {
        for (const control of this.#controls) control.rest();
        python.stop(this);
      };
      this.notices?.say("working", "Python is still working on this picture.", [{ label: "Stop", run: stop }]);
    }, PATIENCE_MS);
  }

  #rested() {
    if (python.busy(this)) return;
    clearTimeout(this.#timer);
    this.notices?.drop("working");
  }

  /** The reader's hand, or the address: this figure is to be alive. */
  #want() {
    this.#wanted = true;
    if (python.state !== "ready") void this.#loadBaked();
    python.prepare(this.dataset.widget ?? "");
    if (python.state === "off") python.start();
    else if (this.dataset.state === "static" || this.dataset.state === "baked") this.#follow(python.state, python.reason);
  }

  /**
   * Python's state has changed.
   * @param {import("./python.js").State} state
   * @param {string} text
   */
  #follow(state, text) {
    clearTimeout(this.#timer);
    if (state === "ready") {
      for (const key of ["start", "slow"]) this.notices?.drop(key);
      // With a question open it is live once that is answered: live means that the picture is the controls' picture.
      if (python.busy(this)) this.#wait();
      else if (!this.notices?.shown.has("failure")) this.#state("live");
    } else if (state === "starting") {
      // A baked answer is the picture of the controls: whether Python is there does not matter to it.
      if (this.dataset.state === "baked" && !python.busy(this)) return;
      if (this.#wanted || this.dataset.state === "live") this.#starting(text);
    } else if (state === "failed" && this.#wanted) {
      this.#state("failed");
      for (const key of ["slow", "working"]) this.notices?.drop(key);
      const retry = { label: "Retry", run: () => retryPython() };
      const still = "The picture and its numbers stay as they are.";
      this.notices?.say("start", `Python could not start: ${sentence(text)} ${still}`, [retry]);
    }
  }

  /** @param {string} text */
  #starting(text) {
    this.#state("starting");
    for (const key of ["start", "working"]) this.notices?.drop(key);
    if (text && python.busy(this)) this.notices?.say("restart", text);
    this.#timer = setTimeout(() => {
      const again = { label: "Start again", run: () => python.again() };
      this.notices?.say("slow", "Python is still being loaded; the connection may be slow.", [again]);
    }, LONG_START_MS);
  }

  /** @param {keyof typeof WORDS} state @param {string} [text] */
  #state(state, text = WORDS[state]) {
    this.dataset.state = state;
    const place = this.querySelector(".sd-state");
    if (place && place.textContent !== text) place.textContent = text;
  }

  /** A link to this very state; where the browser keeps its clipboard, a field to copy it from. */
  async #copyLink() {
    this.#writeAddress();
    writer.flush();
    const link = `${location.origin}${location.pathname}${location.search}#${this.id}`;
    try {
      await navigator.clipboard.writeText(link);
      this.notices?.say("copy", "The link to this state has been copied.");
    } catch {
      const note = this.notices?.say("copy", "The link to this state, to copy:");
      const field = document.createElement("input");
      Object.assign(field, { type: "text", readOnly: true, value: link, className: "sd-link" });
      field.setAttribute("aria-label", "Link to this state");
      note?.firstChild?.after(field);
      field.select();
    }
  }
}

/** Retry after a failed start. */
async function retryPython() {
  if (await outdated()) location.reload();
  else python.retry();
}

/** Whether a deploy has taken this build's files away: then only a new page knows the new ones. */
function outdated() {
  return fetch(beside("assets.json"), { method: "HEAD", cache: "no-store" }).then(({ status }) => status === 404, () => false);
}

/** A message as a sentence. A file's name at its start keeps its letters. @param {string} text */
function sentence(text) {
  const whole = /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

addEventListener("pageshow", (event) => {
  if (event.persisted) python.check();
});
if (!customElements.get("sd-widget")) {
  customElements.define("sd-widget", SdWidget);
  followStates();
}
