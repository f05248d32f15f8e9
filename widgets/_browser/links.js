/**
 * Links on a page to a state of a figure on that same page (`?sampler.temperature=0#sampler`): the figure changes, the
 * page stays as it is.
 *
 * Why not leave them to the browser, or to the theme's instant navigation: the one loads the page anew, worker and all,
 * the other takes two addresses with one path for the same page. Without this script such a link is a plain link. This
 * file must not know what a parameter means.
 */

/** Told to every figure when the address has changed without a navigation. */
export const ADDRESS = "sd-address";

/** Follows such links from now on. One listener for the whole visit. */
export function followStates() {
  document.addEventListener("click", (event) => {
    const plain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!plain || event.defaultPrevented || !(link instanceof HTMLAnchorElement) || link.target) return;
    const url = new URL(link.href);
    const figure = url.hash && document.getElementById(decodeURIComponent(url.hash.slice(1)));
    if (url.origin + url.pathname !== location.origin + location.pathname || !url.search) return;
    if (!figure || figure.localName !== "sd-widget") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    history.pushState(null, "", url);
    dispatchEvent(new Event(ADDRESS));
    figure.scrollIntoView({ block: "start" });
  }, { capture: true });
}
