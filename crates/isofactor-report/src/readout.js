// Reads a chart's values back: point at it, or focus it and use the arrow keys.
(function () {
  "use strict";
  var SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  var HINT = matchMedia("(hover: none)").matches
    ? "Touch the chart to read values."
    : "Point at the chart, or focus it and press ← →, to read values.";

  function format(value) {
    var size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-3 || size >= 1e9) {
      var parts = value.toExponential(2).split("e");
      var power = String(Number(parts[1])).replace(/./g, function (c) { return SUPERSCRIPT[c]; });
      return Number(parts[0]).toString().replace("-", "−") + "×10" + power;
    }
    var decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(size))));
    var text = Number(value.toFixed(decimals)).toLocaleString("en-US", { maximumFractionDigits: 6 });
    return text.replace("-", "−");
  }

  function unit(axis, value) {
    if (axis.log) return Math.log(value / axis.low) / Math.log(axis.high / axis.low);
    return (value - axis.low) / (axis.high - axis.low);
  }

  function nearest(sorted, value) {
    var low = 0, high = sorted.length - 1;
    while (high - low > 1) {
      var middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle; else high = middle;
    }
    return Math.abs(sorted[low] - value) <= Math.abs(sorted[high] - value) ? low : high;
  }

  function element(parent, tag, attributes) {
    var node = document.createElementNS(parent.namespaceURI, tag);
    Object.keys(attributes).forEach(function (name) { node.setAttribute(name, attributes[name]); });
    parent.appendChild(node);
    return node;
  }

  function enliven(figure, data) {
    var plot = figure.querySelector(".plot");
    var steps = [];
    data.lines.forEach(function (line) { steps = steps.concat(line.x); });
    steps = Array.from(new Set(steps)).sort(function (a, b) { return a - b; });
    var places = steps.map(function (x) { return unit(data.x, x); });

    var cursor = document.createElement("div");
    cursor.className = "cursor";
    cursor.tabIndex = 0;
    cursor.setAttribute("role", "slider");
    cursor.setAttribute("aria-label", "Read values along " + (data.x.label || "the horizontal axis"));
    cursor.setAttribute("aria-valuemin", steps[0]);
    cursor.setAttribute("aria-valuemax", steps[steps.length - 1]);
    cursor.setAttribute("aria-valuenow", steps[0]);
    plot.appendChild(cursor);
    var readout = document.createElement("p");
    readout.className = "readout";
    plot.insertAdjacentElement("afterend", readout);

    var current = -1;
    var overlay = null;

    function drawing() {
      return Array.from(plot.querySelectorAll(":scope > svg")).find(function (svg) {
        return svg.getClientRects().length > 0;
      });
    }

    function clear() {
      if (overlay) overlay.remove();
      overlay = null;
      readout.className = "readout idle";
      readout.textContent = HINT;
    }

    function item(sample, name, value) {
      var span = document.createElement("span");
      if (sample) span.appendChild(sample.cloneNode(true));
      var bold = document.createElement("b");
      bold.textContent = value;
      span.append(name + " ", bold);
      readout.appendChild(span);
      return name + " " + value;
    }

    function show(index) {
      clear();
      current = Math.max(0, Math.min(steps.length - 1, index));
      var x = steps[current];
      var svg = drawing();
      if (!svg) return;
      var box = svg.dataset.plot.split(" ").map(Number);
      var across = box[0] + box[2] * places[current];
      overlay = element(svg, "g", {});
      element(overlay, "path", {
        "class": "muted", stroke: "currentColor", d: "M" + across + " " + box[1] + "v" + box[3]
      });
      readout.className = "readout";
      readout.textContent = "";
      var spoken = [item(null, data.x.label || "x", format(x))];
      data.lines.forEach(function (line) {
        var k = nearest(line.x, x);
        var covered = line.x[0] <= x && x <= line.x[line.x.length - 1];
        var entry = figure.querySelector(".legend li[data-mark='" + line.mark + "'] svg");
        spoken.push(item(entry, line.name || data.y.label || "y", covered ? format(line.y[k]) : "–"));
        var up = unit(data.y, line.y[k]);
        if (!covered || up < 0 || up > 1) return;
        var centre = { cx: box[0] + box[2] * unit(data.x, line.x[k]), cy: box[1] + box[3] * (1 - up) };
        element(overlay, "circle", Object.assign({ "class": "paper", fill: "currentColor", r: 6 }, centre));
        element(overlay, "circle", Object.assign({ "class": line.colour, fill: "currentColor", r: 4 }, centre));
      });
      cursor.setAttribute("aria-valuenow", x);
      cursor.setAttribute("aria-valuetext", spoken.join(", "));
      // Grow once, never shrink: the text below must not jump while the pointer moves.
      readout.style.minHeight = readout.offsetHeight + "px";
    }

    function follow(event) {
      var svg = drawing();
      if (!svg) return;
      var frame = svg.getBoundingClientRect();
      var box = svg.dataset.plot.split(" ").map(Number);
      var across = (event.clientX - frame.left) * svg.viewBox.baseVal.width / frame.width;
      show(nearest(places, (across - box[0]) / box[2]));
    }

    cursor.addEventListener("pointermove", follow);
    cursor.addEventListener("pointerdown", follow);
    cursor.addEventListener("pointerleave", function (event) {
      if (event.pointerType === "mouse" && !cursor.matches(":focus-visible")) clear();
    });
    cursor.addEventListener("blur", clear);
    cursor.addEventListener("focus", function () {
      if (cursor.matches(":focus-visible")) show(current < 0 ? 0 : current);
    });
    cursor.addEventListener("keydown", function (event) {
      var leap = Math.max(1, Math.round(steps.length / 10));
      var moves = {
        ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
        PageDown: -leap, PageUp: leap, Home: -steps.length, End: steps.length
      };
      if (event.key === "Escape") clear();
      if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      show(Math.max(0, current) + moves[event.key] * (event.shiftKey ? leap : 1));
    });
    window.addEventListener("resize", clear);
    clear();
  }

  document.querySelectorAll("figure").forEach(function (figure) {
    var source = figure.querySelector("script[type='application/json']");
    if (source) enliven(figure, JSON.parse(source.textContent));
  });
})();
