// Times as the reader's clock shows them; without the script they are UTC.

export function showLocalTimes(place, options) {
  for (const time of place.querySelectorAll("time")) {
    time.title = time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleString([], options);
  }
}
