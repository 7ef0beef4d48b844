// Lets ages go on: "4 s" becomes "5 s".
const units = [[86400, 172800, "d", "日"], [3600, 7200, "h", "時間"], [60, 120, "min", "分"], [1, 0, "s", "秒"]];
const japanese = document.documentElement.lang === "ja";

function said(seconds) {
  const [size, , unit, ja] = units.find(([, least]) => seconds >= least);
  const count = Math.floor(seconds / size);
  return `${count} ${japanese ? ja : unit}`;
}

// The server's clock is the one that counts.
let ahead = 0;
const served = document.querySelector("time[data-age]");
if (served) {
  const [number, unit] = served.textContent.split(" ");
  const size = units.find(([, , name, ja]) => name === unit || ja === unit)?.[0] ?? 1;
  const age = (Date.now() - Date.parse(served.dateTime)) / 1000;
  const off = age - Number(number) * size;
  // Less than what rounding explains is no difference of clocks.
  if (off < -2 || off > size + 2) ahead = off;
}

export function ages(page = document) {
  for (const time of page.querySelectorAll("time[data-age]")) {
    // On a board of the past ages are of then.
    if (time.closest("[data-then]")) continue;
    const text = said(Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000 - ahead));
    if (time.textContent !== text) time.textContent = text;
  }
}

// Times of day are the reader's.
const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export function clocks(within) {
  for (const time of within.querySelectorAll("time[data-clock]")) {
    time.title = new Date(time.dateTime).toLocaleString();
    time.textContent = clock.format(new Date(time.dateTime));
    delete time.dataset.clock;
  }
}

clocks(document);
ages();
setInterval(() => ages(), 1000);
