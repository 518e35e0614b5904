// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Deck is what the page needs of the deck API. It has no call that changes anything.
type Deck interface {
	Watch(ctx context.Context, r *deckv1.WatchRequest,
		options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchResponse], error)
	WatchStageLog(ctx context.Context, r *deckv1.WatchStageLogRequest,
		options ...grpc.CallOption) (grpc.ServerStreamingClient[deckv1.WatchStageLogResponse], error)
	GetStageRun(ctx context.Context, r *deckv1.GetStageRunRequest,
		options ...grpc.CallOption) (*deckv1.GetStageRunResponse, error)
}

var _ Deck = deckv1.DeckServiceClient(nil)

// Film is a recorded session that is played.
type Film interface {
	// Playback is how it is played now.
	Playback() Playback
	// Changed is closed at the next change of that, save for the time that goes on.
	Changed() <-chan struct{}
	// Now is the time of the session.
	Now() time.Time
}

// Options are what a server needs. Connect, Clock and Mode must be set.
type Options struct {
	// Connect returns the deck API. It may block until the environment listens; it is called again whenever the
	// connection is lost. An error for which Gone is true ends the page.
	Connect func(ctx context.Context) (Deck, error)
	// Gone reports whether an error says that there is nothing left to connect to; nil for never.
	Gone func(err error) bool
	// Hello has the environment, the version, the mode, and of a recorded session when it began and what is missing.
	Hello Hello
	// Film is the recorded session; nil for none.
	Film  Film
	Clock clock.Clock
	// Port is that at which the server listens; it is a part of the name of the cookie.
	Port string
	// Secure: watchers come over TLS.
	Secure bool
	// Names are the host names under which watchers may ask, besides localhost. Public: they come from other machines,
	// under any of the addresses of this one.
	Names  []string
	Public bool
	// Admit is called for each request with a session; nil for nothing to do.
	Admit func(ctx context.Context)
}

// Server serves the page. Its methods may be called from any goroutine.
type Server struct {
	options Options
	token   string
	access  *access
	assets  map[string]asset
	shell   shell
	hub     *hub
	logs    *logs
	runs    *runs
}

// MaxWatchers is how many streams there are at most.
const MaxWatchers = 200

// New returns a server with a separate token. Its streams have nothing to send before Run.
func New(o Options) (*Server, error) {
	assets, err := loadAssets()
	if err != nil {
		return nil, err
	}
	token := rand.Text() + rand.Text()
	names := []string{"localhost"}
	for _, name := range o.Names {
		if name != "" { // such as that of an address without a host
			names = append(names, strings.ToLower(name))
		}
	}
	o.Hello.Protocol, o.Hello.Epoch = Protocol, strings.ToLower(rand.Text()[:10])
	s := &Server{
		options: o, token: token, assets: assets, shell: newShell(), hub: newHub(o),
		access: &access{token: sha256.Sum256([]byte(token)), cookie: "pipedeck_" + o.Port, secure: o.Secure,
			names: names, anyAddress: o.Public, clock: o.Clock, wrong: make(chan struct{}, maxWrong)},
	}
	s.logs, s.runs = newLogs(s.hub), newRuns(s.hub)
	return s, nil
}

// Token is what opens the page: 260 random bits.
func (s *Server) Token() string { return s.token }

// Run reads the environment until ctx ends, and returns when nothing of it runs any more. Streams end with it, with the
// cause of the end of ctx as their last words. It runs once.
func (s *Server) Run(ctx context.Context) {
	inner, cancel := context.WithCancel(ctx)
	s.runs.begin(inner)
	s.hub.run(inner)
	s.hub.end(s.hub.endOf(ctx))
	cancel()
	s.runs.wait()
	s.logs.close()
}

// Watching is how many streams are open. Changed is closed when that changes.
func (s *Server) Watching() (count int, changed <-chan struct{}) { return s.hub.watching() }

// ServeHTTP answers a watcher.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	limitSending(http.NewResponseController(w)) // also in place of that of an earlier request of the connection
	path := strings.TrimPrefix(r.URL.Path, "/")
	post := r.Method == http.MethodPost && path == "session"
	switch read := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case !s.access.knows(r.Host):
		http.Error(w, "pipedeck does not answer under this host name; use the address that it has printed",
			http.StatusMisdirectedRequest)
	case !read && !post:
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
	case path != "" && foreign(r):
		w.WriteHeader(http.StatusForbidden)
	case post:
		s.access.open(w, r)
	case !s.access.admitted(r) && path == "":
		s.shell.send(w, r)
	case !s.access.admitted(r):
		w.WriteHeader(http.StatusUnauthorized)
	default:
		s.serve(w, r, path)
	}
}

// serve answers a watcher with a session.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, path string) {
	if s.options.Admit != nil {
		s.options.Admit(r.Context())
	}
	switch path {
	case "session":
		w.WriteHeader(http.StatusNoContent)
	case "events":
		s.stream(w, r)
	case "log":
		s.sendLog(w, r)
	case "":
		s.assets[indexName].send(w, r)
	default:
		file, found := s.assets[path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		file.send(w, r)
	}
}
