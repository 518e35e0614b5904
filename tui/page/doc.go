// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package page serves a web page on which people watch an environment. It is a client of the deck API that can only
// read: its type has no call that changes anything.
//
// # Who may watch
//
// A watcher opens the address with the token in its fragment, which browsers send to no server. Without a cookie, GET /
// is a small page that knows nothing about the environment: it posts the token to /session, gets a cookie for it, and
// loads the page. Every other path without the cookie is 401 without a body. Only GET and HEAD are served, besides that
// one POST. Requests under a foreign host name are refused, because a DNS name can be moved to this machine.
//
//	GET  /            the page; without the cookie the small page that asks for it
//	POST /session     the body is the token: 204 and a cookie, or 403; 429 while too many wrong ones are tried
//	GET  /session     204 with the cookie
//	GET  /NAME        a file of the folder assets
//	GET  /events      a stream of server-sent events, see below; 503 with a reason while there are too many watchers
//	GET  /log         lines of the log of a stage: deployment, stage, from and to (line numbers; to is not included).
//	                  The answer is a Log, with at most 2,000 lines
//
// # The stream
//
// A tab opens one stream:
//
//	GET /events?deployment=ID&stage=ID&line=N&cursor=C
//
// All parameters may be left out. deployment and stage are what the tab has selected: another selection is another
// stream. line is the number of the first line of the log that the tab does not have; without it, the log begins with
// its last lines. cursor is the id of the last event that the tab has got; a browser that connects again by itself
// sends it as Last-Event-ID, which counts before the parameter. The id of an event also holds the line that comes next,
// so that a log goes on where it was. The events are, each with a JSON object of the type of that name:
//
//	hello       Hello: first in every stream
//	reset       Reset: the cursor is not known, or the tab was too slow. A State with whole follows
//	state       State: what has changed, or with whole all that there is
//	deployment  Detail: the selected deployment; first in the stream and whenever it changes
//	log         Log: lines of the selected stage. Where from is greater than what the tab has, lines between were left
//	            out; GET /log has them
//	watchers    Watchers
//	playback    Playback: only of a recorded session, when it is played otherwise than by the time that goes on
//	story       Story: while one is played, also in a recorded session
//	end         End: the last event; the server listens no more, or the environment has ended on purpose. A tab opens
//	            no stream after it
//
// A stream that has nothing to say sends a comment now and then. Texts are cleaned of what acts on terminals; they are
// texts and never HTML.
//
// # Bounds
//
// One Watch of the deck API serves all watchers. Changes are gathered for 50 ms at most. The last events are in a ring,
// from which each stream takes what it has not sent: a slow one holds up no other and finds that the ring has gone on.
package page
