// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/tui/document"
)

const (
	// keepAlive is how often a stream without news sends something, so that proxies keep it open.
	keepAlive = 15 * time.Second
	// sendTime is how long a watcher may take to receive what is sent at once; then the stream ends, and a page
	// connects again.
	sendTime = 30 * time.Second
	// maxID bounds the ids in an address.
	maxID = 200
)

// cursor is how far a stream is.
type cursor struct {
	epoch string
	// seq is the number of the next event of the ring; -1 for a new stream.
	seq int
	log place
}

// String is the id of an event.
func (c cursor) String() string {
	id := fmt.Sprintf("%s.%d", c.epoch, c.seq)
	if c.log.line >= 0 {
		id += fmt.Sprintf(".%d.%d", c.log.generation, c.log.line)
	}
	return id
}

// newCursor reads where a stream goes on; known is false for an id of another server, and for what is none.
func newCursor(epoch, id string) (c cursor, known bool) {
	c = cursor{epoch: epoch, seq: -1, log: place{line: -1}}
	parts := strings.Split(id, ".")
	if len(parts) != 2 && len(parts) != 4 || parts[0] != epoch {
		return c, false
	}
	numbers := make([]int, len(parts)-1)
	for i, part := range parts[1:] {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return c, false
		}
		numbers[i] = n
	}
	c.seq = numbers[0]
	if len(numbers) == 3 {
		c.log.generation, c.log.line = numbers[1], numbers[2]
	}
	return c, true
}

// stream sends events until the watcher or the server ends.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	selected := stageID{q.Get("deployment"), q.Get("stage")}
	if len(selected.deployment) > maxID || len(selected.stage) > maxID {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return
	}
	if !s.hub.enter(selected.deployment) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d people watch already, which is the limit; try again later", MaxWatchers),
			http.StatusServiceUnavailable)
		return
	}
	defer s.hub.leave(selected.deployment)
	t := s.newTab(w, r, selected)
	defer t.close()
	t.run(r)
}

// tab is one stream.
type tab struct {
	server   *Server
	selected stageID
	at       cursor
	detail   *detail
	// log is nil when the tab has selected none, and until freed is closed when too many are read.
	log     *stageLog
	freed   <-chan struct{}
	frames  *frames
	control *http.ResponseController
}

func (s *Server) newTab(w http.ResponseWriter, r *http.Request, selected stageID) *tab {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		id = r.URL.Query().Get("cursor")
	}
	t := &tab{server: s, selected: selected, control: http.NewResponseController(w)}
	known := false
	t.at, known = newCursor(s.options.Hello.Epoch, id)
	if line, err := strconv.Atoi(r.URL.Query().Get("line")); err == nil && line >= 0 && t.at.log.line < 0 {
		t.at.log.line = line
	}
	if selected.deployment == "" || selected.stage == "" {
		t.at.log.line = -1
	} else {
		t.log, t.freed = s.logs.take(selected)
	}
	packed := acceptsGzip(r)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	header.Set("Vary", "Accept-Encoding, Cookie")
	if packed {
		header.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	t.frames = newFrames(w, packed)
	hello := s.options.Hello
	hello.Now = document.Moment(s.hub.now())
	t.frames.event("hello", "", newBody(hello))
	if id != "" && !known {
		t.frames.event("reset", "", newBody(Reset{"the server has started again"}))
	}
	if t.freed != nil {
		t.frames.event("log", "", newBody(t.noRoom()))
	}
	return t
}

// noRoom says why there are no lines yet; those that the tab has stay.
func (t *tab) noRoom() Log {
	next := max(0, t.at.log.line)
	return Log{Deployment: t.selected.deployment, Stage: t.selected.stage, From: next, Next: next, Lines: []Line{},
		Error: fmt.Sprintf("%d logs are read already; this one comes when a watcher leaves one of them", maxLogs)}
}

// close releases the log.
func (t *tab) close() {
	if t.log != nil {
		t.server.logs.release(t.log)
	}
}

// run sends what there is until something ends.
func (t *tab) run(r *http.Request) {
	h := t.server.hub
	alive := h.options.Clock.After(keepAlive)
	for {
		changed := t.gather()
		var logChanged <-chan struct{}
		more := false
		if t.log != nil {
			more, logChanged = t.gatherLog()
		}
		if !t.frames.empty() {
			if t.send() != nil {
				return
			}
			if more {
				continue
			}
		}
		select {
		case <-changed:
		case <-logChanged:
		case <-t.freed:
			t.log, t.freed = t.server.logs.take(t.selected)
		case <-alive:
			alive = h.options.Clock.After(keepAlive)
			t.frames.comment()
		case <-r.Context().Done():
			return
		case <-h.over:
			t.end()
			return
		}
	}
}

// gather adds the events that the stream has not sent.
func (t *tab) gather() (changed <-chan struct{}) {
	n := t.server.hub.news(t.at.seq, t.selected.deployment)
	if n.whole != nil {
		if t.at.seq >= 0 {
			t.frames.event("reset", "", newBody(Reset{"the events since the last one are not kept"}))
		}
		t.at.seq = n.next
		t.frames.event("state", t.at.String(), n.whole)
	}
	for i, one := range n.items {
		if n.whole == nil {
			t.at.seq = n.next - len(n.items) + i + 1
		}
		t.frames.event(one.kind, t.at.String(), one.body)
	}
	if n.detail != t.detail && n.detail != nil {
		t.detail = n.detail
		t.frames.event("deployment", "", n.detail.body)
	}
	return n.changed
}

func (t *tab) gatherLog() (more bool, changed <-chan struct{}) {
	event, to, more, changed := t.log.next(t.at.log)
	if event != nil {
		t.at.log = to
		t.frames.event("log", t.at.String(), event)
	}
	return more, changed
}

// send passes on what was gathered. A watcher who does not take it in time is left.
func (t *tab) send() error {
	limitSending(t.control)
	if err := t.frames.send(); err != nil {
		return err
	}
	return t.control.Flush()
}

// limitSending bounds how long what is sent next may take; where that cannot be set, the operating system's bound
// counts.
func limitSending(w *http.ResponseController) { _ = w.SetWriteDeadline(time.Now().Add(sendTime)) }

// end sends the last words.
func (t *tab) end() {
	t.gather()
	t.frames.event("end", "", newBody(t.server.hub.ending))
	if t.send() == nil {
		_ = t.frames.close() // the watcher may be gone
	}
}

// sendLog answers with lines of a log.
func (s *Server) sendLog(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id := stageID{q.Get("deployment"), q.Get("stage")}
	from, err := strconv.Atoi(q.Get("from"))
	to, errTo := strconv.Atoi(q.Get("to"))
	if err != nil || errTo != nil || from < 0 || to < from || id.deployment == "" || id.stage == "" ||
		len(id.deployment) > maxID || len(id.stage) > maxID {
		http.Error(w, "the address needs deployment, stage, from and to", http.StatusBadRequest)
		return
	}
	log, _ := s.logs.take(id)
	if log == nil {
		http.Error(w, "too many logs are read at present; try again later", http.StatusServiceUnavailable)
		return
	}
	lines, ok := log.await(r.Context(), from, min(to, from+pageLines))
	s.logs.release(log) // before the answer, which takes as long as the watcher likes
	if !ok {
		http.Error(w, "the log is not there yet; try again later", http.StatusServiceUnavailable)
		return
	}
	encoded, err := json.Marshal(lines)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if acceptsGzip(r) && len(encoded) >= packFrom {
		w.Header().Set("Content-Encoding", "gzip")
		encoded = compress(encoded)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(encoded) // the watcher may be gone
	}
}
