// A scatter whose axes the reader chooses: redraws the points and the numbers on the axes.
function plane(figure, data) {
  var reading = reader(figure);
  var bar = document.createElement("p");
  bar.className = "choices";
  figure.insertBefore(bar, figure.querySelector(".plot"));
  var chosen = { x: data.x, y: data.y };

  function choice(axis, words) {
    var label = document.createElement("label");
    var select = document.createElement("select");
    data.variables.forEach(function (variable, i) {
      var option = document.createElement("option");
      option.value = i;
      option.textContent = variable.name;
      select.appendChild(option);
    });
    select.value = chosen[axis];
    select.addEventListener("change", function () {
      chosen[axis] = Number(select.value);
      draw();
    });
    label.append(words + " ", select);
    bar.appendChild(label);
  }

  function words(parent, lines) {
    parent.textContent = "";
    lines.forEach(function (line) {
      element(parent, "text", { x: line[0], y: line[1] }).textContent = line[2];
    });
  }

  function redraw(svg, x, y) {
    var box = area(svg);
    var base = box[1] + box[3];
    var font = Number(svg.getAttribute("font-size"));
    var across = function (value) { return Math.round(10 * (box[0] + box[2] * unit(x, value))) / 10; };
    var up = function (value) { return Math.round(10 * (base - box[3] * unit(y, value))) / 10; };
    var part = function (name) { return svg.querySelector("[data-part='" + name + "']"); };
    part("grid").setAttribute("d", y.ticks.map(function (t) {
      return "M" + box[0] + " " + up(t[0]) + "h" + box[2];
    }).join(""));
    part("rule").setAttribute("d", "M" + box[0] + " " + base + "h" + box[2] + x.ticks.map(function (t) {
      return "M" + across(t[0]) + " " + base + "v5";
    }).join(""));
    words(part("x-ticks"), x.ticks.map(function (t) { return [across(t[0]), base + 8 + font, t[1]]; }));
    words(part("y-ticks"), y.ticks.map(function (t) { return [box[0] - 8, up(t[0]) + 0.35 * font, t[1]]; }));
    [["x-label", x], ["y-label", y]].forEach(function (pair) {
      var texts = part(pair[0]).querySelectorAll("text");
      texts.forEach(function (text, i) { text.textContent = i ? "" : pair[1].name; });
    });
    var paths = part("points").querySelectorAll("path");
    paths.forEach(function (path, start) {
      var d = "";
      for (var i = start; i < data.labels.length; i += paths.length) {
        if (x.values[i] === null || y.values[i] === null) continue;
        d += "M" + across(x.values[i]) + " " + up(y.values[i]) + "h0";
      }
      path.setAttribute("d", d);
    });
    svg.querySelector("title").textContent = y.name + " against " + x.name;
  }

  function draw() {
    var x = data.variables[chosen.x], y = data.variables[chosen.y];
    figure.querySelectorAll(".plot > svg").forEach(function (svg) { redraw(svg, x, y); });
    reading.load({
      x: { label: x.name, low: x.low, high: x.high },
      y: { label: y.name, low: y.low, high: y.high },
      lines: [],
      spots: [{ colour: "c0", x: x.values, y: y.values, text: data.labels }]
    });
  }

  choice("x", "Across");
  choice("y", "Up");
  draw();
}
