(function () {
  "use strict";
  function unfold() {
    var part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    var lid = part && part.querySelector(":scope > details");
    if (lid) { lid.open = true; part.scrollIntoView(); }
  }
  window.addEventListener("hashchange", unfold);
  unfold();
  Array.prototype.forEach.call(document.querySelectorAll("nav a"), function (link) {
    link.addEventListener("click", function () { if (link.hash === location.hash) unfold(); });
  });
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = Array.prototype.slice.call(document.querySelectorAll(".folded > details:not([open])"));
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (one) { one.open = false; }); });
})();
(function () {
  "use strict";
  var table = document.getElementById("board");
  if (!table) return;
  var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
  var box = document.getElementById("filter"), only = document.getElementById("only-equal"), count = document.getElementById("shown");
  document.getElementById("tools").hidden = false;

  function value(row, column) {
    var cell = row.cells[column], text = (cell.getAttribute("data-value") || cell.textContent).trim();
    return /^[-+\u2212]?[\d.,]+(e[-+]?\d+)?(\s|$)/.test(text) ? parseFloat(text.replace(/,/g, "").replace("\u2212", "-")) : text;
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      rows.map(function (row, i) { return [value(row, column), i, row]; })
        .sort(function (a, b) {
          var missing = (a[0] === "" || a[0] === "\u2013") - (b[0] === "" || b[0] === "\u2013");
          return missing || sign * compare(a[0], b[0]) || a[1] - b[1];
        })
        .forEach(function (item) { body.appendChild(item[2]); });
    });
  });
  function filter() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      var fits = words.every(function (word) { return text.indexOf(word) >= 0; }) && (!only || !only.checked || row.className.match(/winner|equal/));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = shown === rows.length ? "" : shown + " of " + rows.length;
  }
  box.addEventListener("input", filter);
  if (only) only.addEventListener("change", filter);
})();
