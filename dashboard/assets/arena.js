import { marks } from "./marks.js";

// HTML of our own, all of it escaped: put in its place, tables sorted by their headers, links opened in the app.
export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".place");
  if (place.shown !== data.html) {
    place.innerHTML = place.shown = data.html;
    number(place);
    if (place.order) sort(place);
    marks(place);
  }
  place.onclick = (event) => {
    const link = event.target.closest("a[href]:not([target])");
    if (!sorted(place, event) && link && event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
      event.preventDefault();
      const href = link.getAttribute("href");
      setTriggerValue("open", href);
      leadOn(href, location.href);
    }
  };
}

// A page that is drawn anew at the instant of a click may lose it: after five seconds the browser goes by itself.
function leadOn(href, from, looks = 20) {
  const to = new URL(href, from).href;
  if (location.href !== from || to === from) return;
  if (looks) setTimeout(leadOn, 250, href, from, looks - 1);
  else location.assign(to);
}

// For tables, wherever they stand.
function number(place) {
  place.querySelectorAll("tbody").forEach((body) => [...body.rows].forEach((row, place) => { row.number = place; }));
}

function sorted(place, event) {
  const button = event.target.closest("th button");
  if (!button) return false;
  const { key, kind } = button.parentElement.dataset;
  const first = kind === "number" ? "descending" : "ascending";
  const then = { [first]: first === "ascending" ? "descending" : "ascending" };
  const before = place.order?.key === key ? place.order.way : null;
  place.order = { key, kind, way: before === null ? first : then[before] ?? "none" };
  sort(place);
  return true;
}

function sort(place) {
  const { key, kind, way } = place.order;
  const headers = [...place.querySelectorAll("thead th")];
  const column = headers.findIndex((header) => header.dataset.key === key);
  if (column < 0) return;
  headers.forEach((header, at) => header.setAttribute("aria-sort", at === column ? way : "none"));
  const value = ({ cells }) => cells[column].dataset.value ?? cells[column].textContent;
  const compare = (a, b) => (kind === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  const body = place.querySelector("tbody");
  const rows = [...body.rows].sort((one, other) => {
    if (way === "none") return one.number - other.number;
    const [a, b] = [value(one), value(other)];
    if (a === "" || b === "") return (a === "") - (b === "") || one.number - other.number;
    return (way === "ascending" ? 1 : -1) * compare(a, b) || one.number - other.number;
  });
  body.append(...rows);
}
