(() => {
  "use strict";
  const GROUPS = ["kind", "from", "flag", "session"];
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const messages = all(".row[data-kind]").map((element) => ({
    element,
    of: Object.fromEntries(GROUPS.map((group) => [
      group, group === "flag" ? element.dataset.flag.split(" ") : [element.dataset[group]],
    ])),
    text: element.textContent.toLowerCase(),
  }));
  const runs = all(".run");
  const toggles = all("button[data-group]");
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const state = { text: "" };

  // The filter lives in the address, so that a view can be passed on: #kind=error,response&text=session
  const read = () => {
    const wanted = new URLSearchParams(/^#l\d+$/.test(location.hash) ? "" : location.hash.slice(1));
    for (const group of GROUPS) {
      state[group] = new Set((wanted.get(group) || "").split(",").filter(Boolean).map(decodeURIComponent));
    }
    state.text = wanted.get("text") || "";
    search.value = state.text;
  };
  const write = () => {
    const wanted = new URLSearchParams();
    for (const group of GROUPS) {
      if (state[group].size) wanted.set(group, [...state[group]].map(encodeURIComponent).join(","));
    }
    if (state.text) wanted.set("text", state.text);
    const hash = wanted.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  };
  const apply = () => {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { element, of, text } of messages) {
      const fits = GROUPS.every((group) => !state[group].size || of[group].some((value) => state[group].has(value)))
        && words.every((word) => text.includes(word));
      element.hidden = !fits;
      count += fits;
    }
    for (const run of runs) run.hidden = !run.querySelector(".row:not([hidden])");
    for (const toggle of toggles) {
      toggle.setAttribute("aria-pressed", String(state[toggle.dataset.group].has(toggle.dataset.value)));
    }
    shown.textContent = count + " of " + messages.length + " shown";
    document.getElementById("nothing").hidden = count > 0 || !messages.length;
  };
  const refresh = () => { write(); apply(); };

  // Colours for JSON that is being looked at; text nodes only, so nothing in it can become markup.
  const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;
  const paint = (pre) => {
    const text = pre.textContent;
    const parts = [];
    let end = 0;
    for (const found of text.matchAll(TOKEN)) {
      const word = document.createElement("span");
      word.className = found[2] ? "key" : found[1] ? "text" : "other";
      word.textContent = found[1] || found[0];
      parts.push(text.slice(end, found.index), word, found[2] || "");
      end = found.index + found[0].length;
    }
    parts.push(text.slice(end));
    pre.replaceChildren(...parts);
    pre.dataset.painted = "";
  };
  document.addEventListener("toggle", (event) => {
    if (event.target.open) all(":scope > .body > .json:not([data-painted])", event.target).forEach(paint);
  }, true);

  // A link to a line unfolds it, whatever the filter.
  const visit = () => {
    const target = /^#l\d+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.matches("details")) { at.open = true; at.hidden = false; }
    }
    target.scrollIntoView();
  };

  for (const toggle of toggles) {
    const { group, value } = toggle.dataset;
    const number = messages.filter(({ of }) => of[group].includes(value)).length;
    toggle.querySelector("b").textContent = number;
    toggle.disabled = !number;
    toggle.addEventListener("click", () => {
      if (!state[group].delete(value)) state[group].add(value);
      refresh();
    });
  }
  search.addEventListener("input", () => { state.text = search.value; refresh(); });
  document.getElementById("clear").addEventListener("click", () => {
    for (const group of GROUPS) state[group].clear();
    state.text = search.value = "";
    refresh();
  });
  for (const [id, open] of [["unfold", true], ["fold", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      for (const row of all(".diagram .row:not([hidden])")) row.open = open;
    });
  }
  addEventListener("hashchange", () => {
    if (!/^#l\d+$/.test(location.hash)) { read(); apply(); }
    visit();
  });
  document.getElementById("filter").hidden = false;
  read();
  apply();
  visit();
})();
