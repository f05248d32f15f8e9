/**
 * What is known of a token, shown under the strip when it is pointed at, touched or reached with the arrow keys.
 *
 * The words stand in the token itself (`data-detail`, written by `widgets/_kit/tokens.py`); here they are only put where
 * they can be read. The strip stays one stop of the Tab key. The place under it keeps its height, so nothing jumps. This
 * file must not know what a detail says.
 */

const KEYS = new Map([["ArrowRight", 1], ["ArrowDown", 1], ["ArrowLeft", -1], ["ArrowUp", -1]]);

/** @param {HTMLElement} root the figure @param {AbortSignal} signal */
export function tellTokens(root, signal) {
  const strip = /** @type {HTMLElement | null} */ (root.querySelector("[data-part=tokens]"));
  if (!strip) return;
  const tokens = () => /** @type {HTMLElement[]} */ ([...strip.querySelectorAll("[data-detail]")]);
  /** @param {Event} event */
  const token = (event) => /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-detail]"));

  /** @param {HTMLElement | null} shown */
  const tell = (shown) => {
    const place = strip.querySelector(".sd-detail");
    if (!shown || !place) return;
    place.id = `${root.id}-detail`;
    if (place.textContent !== shown.dataset.detail) place.textContent = shown.dataset.detail ?? "";
    for (const other of strip.querySelectorAll("[data-told]")) delete (/** @type {HTMLElement} */ (other).dataset.told);
    shown.dataset.told = "";
  };
  /** @param {HTMLElement | undefined} to */
  const go = (to) => {
    if (!to) return;
    to.tabIndex = -1;
    to.setAttribute("aria-describedby", `${root.id}-detail`);
    tell(to); // before the focus, so that its description is there when it is read
    to.focus();
  };

  strip.addEventListener("pointerover", (event) => event.pointerType === "mouse" && tell(token(event)), { signal });
  strip.addEventListener("click", (event) => go(token(event) ?? undefined), { signal });
  strip.addEventListener("keydown", (event) => {
    const all = tokens();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const end = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : null;
    const step = KEYS.get(event.key);
    if (!all.length || event.ctrlKey || event.metaKey || event.altKey || (step === undefined && end === null)) return;
    event.preventDefault();
    go(all[end ?? Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + (step ?? 0)))]);
  }, { signal });
}
