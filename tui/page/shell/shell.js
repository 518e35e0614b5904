(async () => {
  const say = (text) => { document.querySelector("p").textContent = text; };
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  const enter = () => location.replace(location.pathname + location.search);
  const refused = "This address does not open the page. The token in it is wrong or from an earlier start.";
  const next = " Next step: copy the whole address that pipedeck has printed, up to its end.";
  // The token stays in the address until it is answered, so that loading the page again is another try.
  const forget = () => history.replaceState(null, "", location.pathname + location.search);
  try {
    if (!token) {
      forget();
      const session = await fetch("session", { method: "HEAD" });
      if (session.status === 204) return enter();
      return say("This page needs the token at the end of its address, after #token=." + next);
    }
    const answer = await fetch("session", { method: "POST", body: token });
    if (answer.status === 204 || answer.status === 403) forget();
    if (answer.status === 204) return enter();
    if (answer.status === 403) return say(refused + next);
    if (answer.status === 429) return say("Too many wrong tokens are tried at present. Next step: try again in a moment.");
    say(`pipedeck has answered with status ${answer.status}.` + next);
  } catch {
    say("pipedeck does not answer. Next step: check that the command that serves this page still runs.");
  }
})();
