// What pages do with scripts: keys, local times, and updates in place. Every page works without this file.
import { follow } from "./live.js";

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

/** Adds the local time to each time, which pages show as an age, with UTC in its title. */
export function localize(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = `${at.toLocaleString()} (local)\n${time.dateTime}`;
  }
}

/** The rows of the list that has the focus, or of the first list. */
function rows() {
  const table = document.activeElement?.closest("[data-rows]") ?? document.querySelector("[data-rows]");
  return table ? [...table.tBodies[0].rows] : [];
}

/** Moves the focus to the next or previous row: to its first link, or to the row itself. */
function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const current = all.indexOf(document.activeElement?.closest("tr"));
  const row = all[Math.min(all.length - 1, Math.max(0, current < 0 ? 0 : current + step))];
  const target = row.querySelector("a") ?? row;
  if (target === row) row.tabIndex = -1;
  target.focus();
  row.scrollIntoView({ block: "nearest" });
}

let isGoing = false;

function go(key) {
  const link = [...document.querySelectorAll("[data-go]")].find((one) => one.dataset.go === key);
  if (link) link.click();
  return Boolean(link);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (isGoing) {
    isGoing = false;
    if (go(event.key)) event.preventDefault();
    return;
  }
  const acts = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    g: () => { isGoing = true; },
    p: () => document.dispatchEvent(new Event("kalypso:pause")),
    "/": () => document.querySelector(".filter input:not([type=hidden])")?.focus(),
    "?": () => document.querySelector("#keys")?.showModal(),
  };
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && !event.target.closest?.("[data-rows]")) return;
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}

document.addEventListener("keydown", keys);
localize(document);
follow(localize);
