// The least that shows what the stream sends; see doc.go for the events.
const applications = new Map();
const stream = new EventSource("events");

stream.addEventListener("hello", (event) => {
  document.getElementById("environment").textContent = JSON.parse(event.data).environment;
});
stream.addEventListener("state", (event) => {
  const state = JSON.parse(event.data);
  if (state.whole) applications.clear();
  for (const app of state.applications ?? []) applications.set(app.id, app);
  for (const id of state.gone?.applications ?? []) applications.delete(id);
  const rows = [...applications.values()].map((app) => {
    const row = document.createElement("li");
    row.textContent = `${app.label}: ${app.sync}, ${app.health}`;
    return row;
  });
  document.getElementById("applications").replaceChildren(...rows);
});
stream.addEventListener("end", () => stream.close());
