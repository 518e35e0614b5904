// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

// smallBuffer is what a connection holds, in bytes.
const smallBuffer = 64 << 10

// stage is a page that is served over HTTP, on a deck server that the test scripts.
type stage struct {
	t      testing.TB
	deck   *decktest.Server
	server *page.Server
	web    *httptest.Server
	// logReads counts the calls that read a log.
	logReads *atomic.Int32
	// runs are the calls that ask for the run of a stage. hold, when it is set, keeps the answers about its stage.
	runs chan asked
	hold atomic.Pointer[keptBack]
	// end ends the page and waits for it.
	end context.CancelCauseFunc
}

// serve starts both; objects are what the environment has at the beginning.
func serve(t testing.TB, objects ...proto.Message) *stage {
	t.Helper()
	return serveWith(t, page.Options{}, objects...)
}

func serveWith(t testing.TB, o page.Options, objects ...proto.Message) *stage {
	t.Helper()
	s := &stage{t: t, deck: decktest.Start(t), logReads: &atomic.Int32{}, runs: make(chan asked, 10_000)}
	s.deck.Publish(objects...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	client := counting{s.deck.Dial(t), s}
	if o.Connect == nil {
		o.Connect = func(context.Context) (page.Deck, error) { return client, nil }
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	_, o.Port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	o.Hello.Environment, o.Hello.Mode, o.Hello.Version = "demo", page.ModeLive, "v1"
	s.server, err = page.New(o)
	require.NoError(t, err)
	s.web = httptest.NewUnstartedServer(s.server)
	require.NoError(t, s.web.Listener.Close())
	s.web.Listener = listener
	s.web.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(smallBuffer) // so that little is enough to hold a stream up
		return ctx
	}
	s.web.Start()
	ctx, cancel := context.WithCancelCause(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.server.Run(ctx) })
	s.end = func(cause error) {
		cancel(cause)
		running.Wait()
	}
	t.Cleanup(func() {
		s.end(nil)
		s.web.CloseClientConnections()
		s.web.Close()
	})
	return s
}

// asked is a call for the run of a stage; changed is closed when streams are woken after it began.
type asked struct {
	*deckv1.GetStageRunRequest
	changed <-chan struct{}
}

// keptBack keeps the answers about a stage until it is closed.
type keptBack struct {
	stage  string
	closed chan struct{}
}

// counting notes calls.
type counting struct {
	page.Deck
	stage *stage
}

func (c counting) GetStageRun(ctx context.Context, r *deckv1.GetStageRunRequest,
	options ...grpc.CallOption) (*deckv1.GetStageRunResponse, error) {
	select {
	case c.stage.runs <- asked{r, c.stage.server.Changed()}:
	default: // no one reads them
	}
	answer, err := c.Deck.GetStageRun(ctx, r, options...)
	if hold := c.stage.hold.Load(); hold != nil && hold.stage == r.GetStageId() {
		select {
		case <-hold.closed:
		case <-ctx.Done():
		}
	}
	return answer, err
}

func (c counting) WatchStageLog(ctx context.Context, r *deckv1.WatchStageLogRequest,
	options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchStageLogResponse], error) {
	c.stage.logReads.Add(1)
	return c.Deck.WatchStageLog(ctx, r, options...)
}

// browser is a client with a session.
func (s *stage) browser() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableCompression: true}}
	s.t.Cleanup(client.CloseIdleConnections)
	answer, err := client.Post(s.web.URL+"/session", "", strings.NewReader(s.server.Token()))
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	require.Equal(s.t, http.StatusNoContent, answer.StatusCode)
	return client
}

// event is one of a stream.
type event struct{ kind, id, data string }

func (e event) into(t testing.TB, object any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(e.data), object), e.data)
}

// tab is an open stream.
type tab struct {
	t      testing.TB
	events chan event
	close  func()
}

// watch opens a stream.
func (s *stage) watch(client *http.Client, query url.Values) *tab {
	return s.watchAs(client, query, "")
}

// watchAs opens a stream in an encoding.
func (s *stage) watchAs(client *http.Client, query url.Values, encoding string) *tab {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.web.URL+"/events?"+query.Encode(), nil)
	require.NoError(s.t, err)
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	answer, err := client.Do(r)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, answer.StatusCode)
	require.Equal(s.t, encoding, answer.Header.Get("Content-Encoding"))
	tb := &tab{t: s.t, events: make(chan event, 10_000)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(tb.events)
		read(answer.Body, encoding, tb.events)
	})
	tb.close = func() {
		cancel()
		reading.Wait()
		_ = answer.Body.Close()
	}
	s.t.Cleanup(tb.close)
	return tb
}

// read parses a stream until it ends.
func read(body io.Reader, encoding string, to chan<- event) {
	if encoding == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return
		}
		body = unpacked
	}
	lines := bufio.NewReaderSize(body, 1<<20)
	var e event
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		field, value, _ := strings.Cut(string(bytes.TrimRight(line, "\n")), ": ")
		switch field {
		case "event":
			e.kind = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.kind != "" {
				to <- e
			}
			e = event{}
		}
	}
}

// next returns the next event of a kind.
func (b *tab) next(kind string) event {
	b.t.Helper()
	late := time.After(patience)
	for {
		select {
		case e, open := <-b.events:
			require.True(b.t, open, "the stream has ended before an event %s", kind)
			if e.kind == kind {
				return e
			}
		case <-late:
			require.FailNow(b.t, "no event "+kind)
		}
	}
}

// until reads events of a kind until one is as it should be.
func until[T any](b *tab, kind string, holds func(T) bool) (T, event) {
	b.t.Helper()
	for {
		var object T
		e := b.next(kind)
		e.into(b.t, &object)
		if holds(object) {
			return object, e
		}
	}
}

// answerURL is the address of the page.
func answerURL(t testing.TB, s *stage) *url.URL {
	t.Helper()
	address, err := url.Parse(s.web.URL)
	require.NoError(t, err)
	return address
}
