// Reads a chart's values back: point at it, tap it, or focus it and use the arrow keys.
var SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
var HINT = "Point at the chart, tap it, or focus it and press ← → to read values.";
// How far from the pointer a point may lie to be read, in pixels.
var REACH = 28;

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

// Where a drawing's axes lie: left, top, width, height.
function area(svg) { return svg.dataset.plot.split(" ").map(Number); }

// Puts a reading layer on a figure. `load` gives it (other) data.
function reader(figure) {
  var plot = figure.querySelector(".plot");
  var data, steps, places, spots;
  var current = -1;
  var overlay = null;

  var cursor = document.createElement("div");
  cursor.className = "cursor";
  cursor.tabIndex = 0;
  cursor.setAttribute("role", "slider");
  plot.appendChild(cursor);
  var readout = document.createElement("p");
  readout.className = "readout";
  plot.insertAdjacentElement("afterend", readout);

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

  function load(next) {
    data = next;
    steps = [];
    data.lines.forEach(function (line) { steps = steps.concat(line.x); });
    steps = Array.from(new Set(steps)).sort(function (a, b) { return a - b; });
    places = steps.map(function (x) { return unit(data.x, x); });
    spots = [];
    data.spots.forEach(function (group) {
      group.x.forEach(function (x, i) {
        if (x === null || group.y[i] === null) return;
        spots.push({ x: x, y: group.y[i], text: group.text[i], group: group });
      });
    });
    spots.sort(function (a, b) { return a.x - b.x || a.y - b.y; });
    current = -1;
    var count = steps.length || spots.length;
    cursor.setAttribute("aria-label", "Read values along " + (data.x.label || "the horizontal axis"));
    cursor.setAttribute("aria-valuemin", 1);
    cursor.setAttribute("aria-valuemax", count);
    cursor.setAttribute("aria-valuenow", 1);
    cursor.setAttribute("aria-valuetext", "1 of " + count);
    clear();
  }

  function begin(index, count) {
    clear();
    current = Math.max(0, Math.min(count - 1, index));
    cursor.setAttribute("aria-valuenow", current + 1);
    cursor.setAttribute("aria-valuetext", (current + 1) + " of " + count);
    readout.className = "readout";
    readout.textContent = "";
  }

  function end() {
    // Grow once, never shrink: the text below must not jump while the pointer moves.
    readout.style.minHeight = readout.offsetHeight + "px";
  }

  function item(sample, name, value) {
    var span = document.createElement("span");
    if (sample) span.appendChild(sample.cloneNode(true));
    var bold = document.createElement("b");
    bold.textContent = value;
    span.append(name ? name + " " : "", bold);
    // The space is for ears: without it two values would be read as one word.
    readout.append(span, " ");
  }

  function sample(mark) { return figure.querySelector(".legend li[data-mark='" + mark + "'] svg"); }

  function dot(box, colour, x, y) {
    var centre = { cx: box[0] + box[2] * unit(data.x, x), cy: box[1] + box[3] * (1 - unit(data.y, y)) };
    element(overlay, "circle", Object.assign({ "class": "paper", fill: "currentColor", r: 6 }, centre));
    element(overlay, "circle", Object.assign({ "class": colour, fill: "currentColor", r: 4 }, centre));
  }

  function showStep(index) {
    var svg = drawing();
    if (!svg) return;
    begin(index, steps.length);
    var x = steps[current];
    var box = area(svg);
    overlay = element(svg, "g", {});
    element(overlay, "path", {
      "class": "muted", stroke: "currentColor",
      d: "M" + (box[0] + box[2] * places[current]) + " " + box[1] + "v" + box[3]
    });
    item(null, data.x.label || "x", format(x));
    data.lines.forEach(function (line) {
      var k = nearest(line.x, x);
      var covered = line.x[0] <= x && x <= line.x[line.x.length - 1];
      var value = covered ? format(line.y[k]) : "–";
      if (covered && line.low) value += " (" + format(line.low[k]) + " to " + format(line.high[k]) + ")";
      item(sample(line.mark), line.name || data.y.label || "y", value);
      var up = unit(data.y, line.y[k]);
      if (covered && up >= 0 && up <= 1) dot(box, line.colour, line.x[k], line.y[k]);
    });
    end();
  }

  function showSpot(index) {
    var svg = drawing();
    if (!svg) return;
    begin(index, spots.length);
    var spot = spots[current];
    overlay = element(svg, "g", {});
    dot(area(svg), spot.group.colour, spot.x, spot.y);
    if (spot.text) item(null, "", spot.text);
    item(null, data.x.label || "x", format(spot.x));
    item(null, data.y.label || "y", format(spot.y));
    end();
  }

  function move(index) { if (steps.length) showStep(index); else showSpot(index); }

  function follow(event) {
    var svg = drawing();
    if (!svg) return;
    var frame = svg.getBoundingClientRect();
    var box = area(svg);
    var scale = svg.viewBox.baseVal.width / frame.width;
    var across = (event.clientX - frame.left) * scale;
    var down = (event.clientY - frame.top) * scale;
    readout.setAttribute("aria-live", "off");
    var best = -1, least = REACH * scale;
    spots.forEach(function (spot, i) {
      var dx = box[0] + box[2] * unit(data.x, spot.x) - across;
      var dy = box[1] + box[3] * (1 - unit(data.y, spot.y)) - down;
      var distance = Math.hypot(dx, dy);
      if (distance < least) { best = i; least = distance; }
    });
    if (best >= 0) showSpot(best);
    else if (steps.length) showStep(nearest(places, (across - box[0]) / box[2]));
    else clear();
  }

  cursor.addEventListener("pointermove", follow);
  cursor.addEventListener("pointerdown", follow);
  cursor.addEventListener("pointerleave", function (event) {
    if (event.pointerType === "mouse" && !cursor.matches(":focus-visible")) clear();
  });
  cursor.addEventListener("blur", clear);
  cursor.addEventListener("focus", function () {
    if (!cursor.matches(":focus-visible")) return;
    readout.setAttribute("aria-live", "polite");
    move(current < 0 ? 0 : current);
  });
  cursor.addEventListener("keydown", function (event) {
    var count = steps.length || spots.length;
    var leap = Math.max(1, Math.round(count / 10));
    var moves = {
      ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
      PageDown: -leap, PageUp: leap, Home: -count, End: count
    };
    if (event.key === "Escape") clear();
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    readout.setAttribute("aria-live", "polite");
    move(Math.min(Math.max(0, current), count - 1) + moves[event.key] * (event.shiftKey ? leap : 1));
  });
  window.addEventListener("resize", clear);
  return { load: load };
}
