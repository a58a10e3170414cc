// Charts answer to pointer, finger, keys: see dashboard/charts.py.
const places = new Set();
const off = {}; // hidden lines
let open = null; // the plot that answers, where
let lit = "";
const every = (place, what) => [...place.querySelectorAll(what)];
const boxOf = (part) => part.getBoundingClientRect();
const make = (tag, textContent, values) => Object.assign(document.createElement(tag), { textContent }, values);

// Called for each place that was drawn anew.
export function marks(place) {
  if (place.contains(open?.plot)) hide();
  for (const figure of every(place, "figure[data-marks]")) {
    const titles = (what) => every(figure, what).map(({ title }) => title);
    figure.off = off[[figure.id, ...titles("button").sort()]] ??= new Set(titles("[aria-pressed=false]"));
    showLines(figure);
  }
  if (places.has(place)) return;
  for (const old of places) if (!old.isConnected) places.delete(old);
  places.add(place);
  const answers = {
    pointermove: pointed,
    click: clicked,
    keydown: pressed,
    pointerleave: () => open?.held || hide(),
    focusin: ({ target }) => light(agentOf(target)),
    focusout: ({ relatedTarget }) => relatedTarget && !open?.plot.contains(relatedTarget) && hide(),
  };
  for (const kind in answers) place.addEventListener(kind, answers[kind]);
}

// The figures of a chart: instants and values, each less the one before.
function read(figure) {
  const text = figure.dataset.marks ?? '{"lines":[]}';
  if (figure.chart?.text === text) return figure.chart;
  const chart = { ...JSON.parse(text), text };
  const summed = (steps, sum = 0) => steps.map((step) => (sum += step));
  chart.at &&= summed(chart.at);
  for (const line of chart.lines) {
    if (chart.at) line.values = [...Array(line.from), ...summed(line.by).map((value) => value / 10 ** chart.unit[2])];
  }
  return (figure.chart = chart);
}

// Where one can stop: at instants, tenths of the line that is shown, or marks with a title.
function stops({ parentElement: figure, firstElementChild: svg }) {
  const { x, at, lines, high } = read(figure);
  const { left, top, width } = boxOf(svg);
  const across = (value) => ((value - x[0]) / (x[1] - x[0])) * width;
  if (at) return at.map((time, index) => ({ index, x: across(time) }));
  if (x) {
    const { name, look, tenths } = lines.find((line) => !figure.off.has(line.name));
    return tenths.map(([place, count, ...shares]) => {
      const [stated, happened, from, to] = shares.map((share) => `${+(share / 10).toFixed(1)}%`);
      const rows = [
        { name: "stated", text: stated },
        { name: "happened", text: happened, look, y: high * (1 - shares[1] / 1000) },
        { name: "by chance", text: `${from}–${to}` },
        { name: "forecasts", text: count },
      ];
      return { x: across(shares[0] / 1000), head: `${name}: ${10 * place}–${10 * place + 10}%`, rows };
    });
  }
  // browsers show titles late, on a phone never
  for (const title of every(svg, "title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  return every(svg, "[data-tip]").map((mark) => {
    const box = boxOf(mark);
    return { mark, head: mark.dataset.tip, rows: [], x: box.left + box.width / 2 - left, y: box.top + box.height / 2 - top };
  });
}

function rowsAt(figure, index, height) {
  const { lines, unit, rounds, y: [low, high] } = read(figure);
  const up = (value) => height * (1 - ((unit[5] ? Math.log10(value) : value) - low) / (high - low));
  const lead = (href) => (rounds ? href && rounds[index] && href + rounds[index] : href);
  const shown = lines.filter(({ name, values }) => !figure.off.has(name) && values[index] !== undefined);
  const row = ({ name, look, values, href }) => ({ name, look, href: lead(href), text: written(values[index], unit), y: up(values[index]) });
  return shown.map(row).sort((a, b) => a.y - b.y);
}

function written(value, [before, behind, most, least, signed]) {
  const form = { minimumFractionDigits: least, maximumFractionDigits: most, signDisplay: signed ? "exceptZero" : "negative" };
  return value.toLocaleString("en", form).replace(/^[+-]?/, (sign) => sign.replace("-", "−") + before) + behind;
}

function show(plot, stop, y) {
  const { firstElementChild: svg, lastElementChild: tip, parentElement: figure } = plot;
  const { at } = read(figure);
  const rows = stop.rows ?? rowsAt(figure, stop.index, svg.clientHeight);
  const [nearest] = at ? rows.toSorted((a, b) => Math.abs(a.y - y) - Math.abs(b.y - y)) : [];
  if (open?.plot !== plot) hide();
  open = { plot, stop };
  light((y && nearest?.name) || "");
  tip.replaceChildren(make("b", stop.head ?? `${new Date(at[stop.index] * 1000).toUTCString().slice(5, 22)} UTC`));
  for (const { name, text, look, href } of rows) {
    const row = make("div", "", { className: `${look ?? ""}${lit === name ? " chosen" : ""}` });
    row.append(href ? make("a", name, { href }) : make("span", name), " ", make("span", text));
    tip.append(row);
  }
  plot.classList.add("open");
  const { left } = boxOf(svg);
  const wide = tip.offsetWidth + 16;
  const fits = left + stop.x + wide < document.body.clientWidth;
  tip.style.left = `${fits ? stop.x + 16 : Math.max(stop.x - wide, 4 - left)}px`;
  tip.style.top = `${(stop.y ?? -14) + 14}px`;
  svg.querySelector(".cross")?.remove();
  if (stop.mark) return;
  const dots = rows.map((row) => row.look && `<circle class="${row.look} dot" cy="${row.y}" r="${lit === row.name ? 6 : 3.5}"/>`);
  svg.insertAdjacentHTML("beforeend", `<g class="cross" transform="translate(${stop.x})"><line y2="100%"/>${dots.join("")}</g>`);
}

function hide(name = "") {
  open?.plot.classList.remove("open", "held");
  open?.plot.querySelector(".cross")?.remove();
  open = null;
  light(name);
}

function pointed({ target, clientX, clientY }) {
  const plot = target.closest(".plot");
  if (open?.held) return;
  if (!plot) return hide(agentOf(target));
  const { left, top } = boxOf(plot.firstElementChild);
  const far = ({ mark, x, y }) => (mark?.contains(target) ? 0 : Math.hypot(left + x - clientX, mark ? top + y - clientY : 0));
  const [nearest] = stops(plot).sort((a, b) => far(a) - far(b));
  if (!nearest || (nearest.mark && far(nearest) > 14)) hide();
  else show(plot, nearest, clientY - top);
}

// A click holds what is shown; on the dot it follows its link.
function clicked(event) {
  const { target } = event;
  const button = target.closest("figure button");
  if (button) (take[button.dataset.do] ?? toggle)(button.closest("figure"), button);
  if (target.closest(".tip")) return;
  if (target.matches(".cross [r='6']")) return open.plot.querySelector(".chosen a")?.click();
  const plot = target.closest(".plot");
  const held = open?.held && open.plot;
  if (held) hide();
  if (!plot || plot === held) return;
  pointed(event);
  if (!open) return;
  open.held = true;
  plot.classList.add("held");
}

function pressed(event) {
  const plot = event.target;
  if (event.key === "Escape") hide();
  if (!plot.matches(".plot")) return;
  const all = stops(plot);
  const here = open?.plot === plot ? all.findIndex(({ x, y }) => x === open.stop.x && y === open.stop.y) : all.length;
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length }[event.key];
  if (to === undefined || !all.length) return;
  show(plot, all[to] ?? all.at(to < 0 ? 0 : -1));
  event.preventDefault();
}

// A chip shows or hides its line, or its own alone.
function toggle(figure, { title: name }) {
  const { lines, high } = read(figure);
  if (high) for (const line of lines) figure.off.add(line.name);
  if (!figure.off.delete(name)) figure.off.add(name);
  showLines(figure);
}

function showLines(figure) {
  for (const part of every(figure, "[data-line]")) {
    const isOff = figure.off.has(read(figure).lines[part.dataset.line].name);
    part.classList.toggle("off", isOff);
    if (part.title) part.ariaPressed = !isOff;
  }
}

function agentOf(target) {
  const link = target.closest("tr")?.querySelector("th a");
  if (link) return new URLSearchParams(link.search).get("agent") ?? link.textContent;
  return target.closest(".chips [title]")?.title ?? "";
}

function light(name) {
  if (name === lit) return;
  lit = name;
  for (const place of places) {
    for (const row of every(place, "tbody tr")) row.classList.toggle("lit", !!name && agentOf(row) === name);
    for (const figure of every(place, "figure[data-marks]")) {
      const at = read(figure).lines.findIndex((line) => line.name === name);
      for (const part of every(figure, "svg [data-line]")) part.classList.toggle("lit", +part.dataset.line === at);
    }
  }
}

const take = {
  csv(figure) {
    const { at, lines } = read(figure);
    const names = lines.map(({ name }) => `"${name.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`);
    const rows = at
      ? at.map((time, i) => [new Date(time * 1000).toISOString(), ...lines.map(({ values }) => values[i])])
      : lines.flatMap(({ tenths }, i) => tenths.map((tenth) => [names[i], ...tenth]));
    save(figure, "csv", [at ? ["at", ...names] : "name,tenth,forecasts,stated,happened,low,high", ...rows].join("\n"));
  },
  svg(figure) {
    const svg = figure.querySelector("svg");
    const copy = svg.cloneNode(true);
    const parts = every(svg, "*");
    const looks = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "display", "vector-effect"];
    every(copy, "*").forEach((part, i) => {
      const seen = getComputedStyle(parts[i]);
      part.setAttribute("style", looks.map((look) => `${look}:${seen[look]}`).join(";"));
    });
    const { left, width, height } = boxOf(svg);
    copy.setAttribute("width", width);
    const size = `${boxOf(figure).left - left} -16 ${figure.clientWidth} ${height + 48}`;
    save(figure, "svg", `<svg xmlns="${svg.namespaceURI}" viewBox="${size}">${copy.outerHTML}</svg>`);
  },
  link(figure, button) {
    const address = `${location.href.split("#")[0]}#${figure.id}`;
    navigator.clipboard?.writeText(address).then(() => { button.textContent = "Copied"; }) ?? prompt("Link", address);
  },
};

const save = (figure, kind, text) => make("a", "", { href: URL.createObjectURL(new Blob([text])), download: `${figure.id}.${kind}` }).click();
