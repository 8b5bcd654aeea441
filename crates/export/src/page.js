(function () {
  "use strict";
  var root = document.documentElement;
  function byId(id) { return id ? document.getElementById(id) : null; }
  function each(selector, within, act) { Array.prototype.forEach.call(within.querySelectorAll(selector), act); }

  // Shows the branch that a run lies on: its ancestors, itself, and what goes on from it.
  function show(run) {
    var shown = new Set(), at;
    for (at = run; at; at = byId(at.dataset.up)) shown.add(at.id);
    for (at = byId(run.dataset.next); at && !shown.has(at.id); at = byId(at.dataset.next)) shown.add(at.id);
    each(":scope > .run", run.parentElement, function (other) {
      other.hidden = !shown.has(other.id);
      each('nav li[data-run="' + other.id + '"]', document, function (line) {
        line.classList.toggle("on", shown.has(other.id));
      });
    });
  }

  function follow() {
    var target = byId(decodeURIComponent(location.hash.slice(1))), at;
    if (!target) return;
    var run = target.closest(".run");
    if (run && run.hidden) show(run);
    for (at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }

  var theme = byId("theme"), fold = byId("fold"), open = false;
  theme.hidden = fold.hidden = false;
  theme.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  fold.addEventListener("click", function () {
    open = !open;
    each(".thinking, .raw, .note", document, function (details) { details.open = open; });
  });
  addEventListener("hashchange", follow);
  follow();
})();
