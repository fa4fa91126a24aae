// Brings the page's figures to life.
document.querySelectorAll("figure").forEach(function (figure) {
  var source = figure.querySelector("script[type='application/json']");
  if (!source) return;
  var data = JSON.parse(source.textContent);
  if (data.variables) plane(figure, data); else reader(figure).load(data);
});
