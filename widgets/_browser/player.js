/**
 * Play and Pause of a step control.
 *
 * Nothing plays by itself. With reduced motion Play goes to the end at once. A hidden tab pauses and the same step goes
 * on when it is shown again: browsers hold timers back there and would let them go in a burst. The next step waits until
 * the picture of the last one is there. This file must not know what a step shows.
 */

/**
 * @typedef {{
 *   button: HTMLButtonElement | null, ms: number, last: number, at: () => number, go: (index: number) => void,
 *   busy: () => boolean, signal: AbortSignal,
 * }} Film
 */

export class Player {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #playing = false;

  /** @param {Film} film */
  constructor(film) {
    this.film = film;
    const { button, signal } = film;
    button?.addEventListener("click", () => (this.#playing ? this.pause() : this.play()), { signal });
    document.addEventListener("visibilitychange", () => this.#plan(), { signal });
    signal.addEventListener("abort", () => this.pause());
    button?.removeAttribute("aria-pressed"); // the label says it: Play, Pause
    this.#mark(false);
  }

  play() {
    const { at, go, last } = this.film;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      go(last);
      return;
    }
    if (at() >= last) go(0);
    this.#mark(true);
    this.#plan();
  }

  pause() {
    clearTimeout(this.#timer);
    if (this.#playing) this.#mark(false);
  }

  /** One timer at most, and none while nobody sees it. */
  #plan() {
    clearTimeout(this.#timer);
    if (this.#playing && document.visibilityState === "visible") {
      this.#timer = setTimeout(() => this.#step(), this.film.ms);
    }
  }

  #step() {
    const { at, busy, go, last } = this.film;
    if (!busy()) go(Math.min(at() + 1, last));
    if (at() >= last) this.pause();
    else this.#plan();
  }

  /** @param {boolean} playing */
  #mark(playing) {
    this.#playing = playing;
    const { button } = this.film;
    if (button) button.textContent = playing ? "Pause" : "Play";
  }
}
