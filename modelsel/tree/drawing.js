(() => {
  const figure = document.currentScript.closest(".tree-drawing");
  const svg = figure.querySelector("svg"), view = figure.querySelector(".tree-view");
  const { row, step, box, after } = Object.fromEntries(Object.entries(svg.dataset).map(([k, v]) => [k, +v]));
  const nodes = [...svg.querySelectorAll(".node")].map((g) => ({
    g, parent: +g.dataset.parent, depth: +g.dataset.depth, weight: +g.dataset.weight,
    inner: g.classList.contains("inner"), folded: false,
  }));
  let scale = 1, width = 0, height = 0;

  const place = () => {                          // preorder: a parent stands before its children
    for (const n of nodes) {
      const p = nodes[n.parent];
      n.shown = !p || (p.shown && !p.folded);
      n.top = Infinity; n.bottom = -Infinity;
    }
    let leaves = 0, depth = 0;
    for (const n of nodes) if (n.shown && (!n.inner || n.folded)) {
      n.top = n.bottom = (leaves++ + .5) * row;
      depth = Math.max(depth, n.depth);
    }
    for (const n of [...nodes].reverse()) if (n.shown) {
      n.y = (n.top + n.bottom) / 2;
      const p = nodes[n.parent];
      if (p) { p.top = Math.min(p.top, n.y); p.bottom = Math.max(p.bottom, n.y); }
    }
    width = depth * step + box + after; height = leaves * row;
    return leaves;
  };

  const draw = () => {
    place();
    for (const n of nodes) {
      n.g.classList.toggle("gone", !n.shown);
      n.g.classList.toggle("folded", n.folded);
      if (n.inner) n.g.setAttribute("aria-expanded", String(!n.folded));
      if (!n.shown) continue;
      n.g.setAttribute("transform", `translate(${n.depth * step},${n.y})`);
      const edge = n.g.querySelector(".edge"), p = nodes[n.parent];
      if (edge) edge.setAttribute("d", `M${box - step},${p.y - n.y} h12 L${box - step + 36},0 H0`);
    }
    size();
  };
  const size = () => {
    svg.setAttribute("viewBox", `-1 0 ${width} ${height}`);
    svg.setAttribute("width", width * scale); svg.setAttribute("height", height * scale);
  };
  const zoom = (factor) => {                      // the middle of the view stays where it is
    const x = view.scrollLeft + view.clientWidth / 2, y = view.scrollTop + view.clientHeight / 2, before = scale;
    scale = Math.min(3, Math.max(.1, scale * factor));
    size();
    view.scrollLeft = x * scale / before - view.clientWidth / 2;
    view.scrollTop = y * scale / before - view.clientHeight / 2;
  };
  const home = () => { view.scrollLeft = 0; view.scrollTop = nodes[0].y * scale - view.clientHeight / 2; };
  const foldTo = (most) => {
    for (const n of nodes) n.folded = false;
    const lightest = nodes.filter((n) => n.inner && n.parent >= 0).sort((a, b) => a.weight - b.weight || b.depth - a.depth);
    for (const n of lightest) { if (place() <= most) break; n.folded = true; }
    draw();
  };
  const act = {
    larger: () => zoom(1.25), smaller: () => zoom(.8),
    fit: () => zoom(Math.min(1, view.clientWidth / width) / scale),
    unfold: () => { foldTo(Infinity); home(); }, fold: () => { foldTo(12); home(); },
  };
  const toggle = (g) => {                         // the node stays under the pointer
    const n = nodes.find((m) => m.g === g), before = n.y;
    n.folded = !n.folded;
    draw();
    view.scrollTop += (n.y - before) * scale;
  };

  figure.querySelector(".tree-bar").addEventListener("click", (e) => act[e.target.dataset.act]?.());
  svg.addEventListener("click", (e) => { const g = e.target.closest(".inner"); if (g) toggle(g); });
  svg.addEventListener("keydown", (e) => {
    if (e.target.matches(".inner") && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); toggle(e.target); }
  });
  view.addEventListener("wheel", (e) => { if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY < 0 ? 1.1 : .9); } }, { passive: false });
  for (const button of figure.querySelectorAll("button")) button.hidden = false;
  foldTo(24);
  if (view.clientWidth) scale = Math.min(1, Math.max(.75, view.clientWidth / width));
  size();
  home();
})();
