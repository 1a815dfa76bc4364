// Draws the diagrams of a page, and draws them anew when the reader changes between light and dark.
// Where that fails, the source of the diagram stays, which can be read as well.
(() => {
  const library = new URL("mermaid/mermaid.js", document.currentScript.src);
  const diagrams = [];

  function colours() {
    const style = getComputedStyle(document.body);
    const read = (name) => style.getPropertyValue(`--diagram-${name}`).trim();
    const text = read("text");
    return {
      darkMode: document.body.dataset.mdColorScheme === "slate",
      background: read("paper"),
      primaryColor: read("fill"),
      primaryBorderColor: read("accent"),
      primaryTextColor: text,
      secondaryColor: read("note"),
      tertiaryColor: read("group"),
      tertiaryBorderColor: read("line"),
      lineColor: read("line"),
      textColor: text,
      titleColor: text,
      edgeLabelBackground: read("paper"),
      clusterBkg: read("group"),
      clusterBorder: read("line"),
      actorLineColor: read("line"),
      signalColor: text,
      signalTextColor: text,
      labelTextColor: text,
      loopTextColor: text,
      labelBoxBkgColor: read("fill"),
      labelBoxBorderColor: read("accent"),
      noteBkgColor: read("note"),
      noteBorderColor: read("line"),
      noteTextColor: text,
      activationBkgColor: read("group"),
      fontSize: "15px",
      dropShadow: "none",
      useGradient: false,
    };
  }

  async function draw() {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      theme: "base",
      themeVariables: colours(),
      fontFamily: getComputedStyle(document.body).fontFamily,
      flowchart: { useMaxWidth: true, htmlLabels: false },
      class: { hideEmptyMembersBox: true },
      sequence: { useMaxWidth: true, mirrorActors: false },
    });
    for (const [index, { place, source }] of diagrams.entries()) {
      const { svg } = await mermaid.render(`diagram-${index}`, source);
      place.innerHTML = svg;
    }
  }

  function start() {
    for (const block of document.querySelectorAll("pre.diagram")) {
      const place = document.createElement("figure");
      place.className = "diagram";
      diagrams.push({ place, source: block.textContent });
      place.append(block.cloneNode(true));
      block.replaceWith(place);
    }
    if (diagrams.length === 0) return;
    const script = document.createElement("script");
    script.src = library;
    script.onload = () => {
      draw();
      const changes = new MutationObserver(draw);
      changes.observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
    };
    document.head.append(script);
  }

  start();
})();
