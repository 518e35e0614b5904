// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// patience is how long a condition may take on a slow machine; none takes it when all is well.
const patience = time.Minute

// chromium is the context of the browser of all tests.
var chromium context.Context

// TestMain starts one browser for all tests. Each test has its own context in it: cookies, storage and tabs.
func TestMain(m *testing.M) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		fmt.Println("there is no Chromium here; next step: apt-get install chromium")
		os.Exit(1)
	}
	code := func() int {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.Flag("disable-background-networking", true), chromedp.Flag("no-proxy-server", true),
			chromedp.WSURLReadTimeout(time.Minute))
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
		defer cancel()
		ctx, end := chromedp.NewContext(allocator)
		defer end()
		if err := chromedp.Do(ctx); err != nil {
			fmt.Println("Chromium does not start:", err)
			return 1
		}
		chromium = ctx
		return m.Run()
	}()
	os.Exit(code)
}

// site is the server of a page on a port that stays, so that it can go and come back.
type site struct {
	deck    *decktest.Server
	page    *page.Server
	address string

	t    testing.TB
	film page.Film
	// away: the environment does not answer. gone: it has ended on purpose. streams is how many streams were asked for.
	away    atomic.Bool
	gone    atomic.Bool
	streams atomic.Int32
	http    *http.Server
	end     func()
	serving *sync.WaitGroup
}

// serve starts a page about a deck server that has published objects.
func serve(t testing.TB, objects ...proto.Message) *site { return serveFilm(t, nil, objects...) }

// serveFilm is serve for a recorded session; nil is none.
func serveFilm(t testing.TB, film page.Film, objects ...proto.Message) *site {
	deck := decktest.Start(t)
	deck.Publish(objects...)
	s := &site{deck: deck, t: t, film: film}
	s.start("127.0.0.1:0")
	t.Cleanup(func() {
		s.unlisten()
		s.stop()
	})
	return s
}

// staged is a clock that begins at the time of the examples.
type staged struct{ began time.Time }

func (c staged) Now() time.Time { return decktest.Now().Add(time.Since(c.began)) }

func (staged) After(d time.Duration) <-chan time.Time { return clock.System{}.After(d) }

// errGone is the error of connecting to an environment that has ended on purpose.
var errGone = errors.New("the environment is gone")

// start makes a new server with its own token.
func (s *site) start(address string) {
	client := s.deck.Dial(s.t)
	listener := s.listen(address)
	_, port, err := net.SplitHostPort(s.address)
	require.NoError(s.t, err)
	o := page.Options{
		Connect: func(context.Context) (page.Deck, error) {
			switch {
			case s.gone.Load():
				return nil, errGone
			case s.away.Load():
				return nil, errors.New("connection refused")
			}
			return client, nil
		},
		Gone: func(err error) bool { return errors.Is(err, errGone) }, Clock: staged{time.Now()}, Port: port,
		Hello: page.Hello{Environment: "default", Version: "v0.1.0", Mode: page.ModeLive, Flags: " --name default"},
		Film:  s.film,
	}
	if s.film != nil {
		o.Hello.Mode, o.Hello.Recorded = page.ModeReplay, decktest.At(0).AsTime().Format(time.RFC3339Nano)
	}
	s.page, err = page.New(o)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.serving = &sync.WaitGroup{}
	s.serving.Go(func() { // a silent environment counts as one that is away
		for beat := time.NewTicker(time.Second); ctx.Err() == nil; s.deck.Beat() {
			select {
			case <-beat.C:
			case <-ctx.Done():
				beat.Stop()
			}
		}
	})
	s.serving.Go(func() { s.page.Run(ctx) })
	s.end = cancel
	s.again(listener)
}

func (s *site) listen(address string) net.Listener {
	listener, err := net.Listen("tcp", address)
	require.NoError(s.t, err)
	s.address = listener.Addr().String()
	return listener
}

// again serves the same sessions at an address.
func (s *site) again(listener net.Listener) {
	s.http = &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/events" {
				s.streams.Add(1)
			}
			s.page.ServeHTTP(w, r)
		})}
	served := s.http
	s.serving.Go(func() { _ = served.Serve(listener) }) // it ends by unlisten
}

// unlisten ends all connections, as a network that is gone.
func (s *site) unlisten() { _ = s.http.Close() }

// stop ends the server, and returns when nothing of it runs.
func (s *site) stop() {
	s.end()
	s.serving.Wait()
}

// url is the address that opens the page; more is added to the fragment.
func (s *site) url() string { return "http://" + s.address + "/#token=" + s.page.Token() }

// tab is a tab of a browser that has no cookies yet.
type tab struct {
	testing.TB
	ctx context.Context

	mu sync.Mutex
	// asked are the hosts that were asked, said what the console says.
	asked map[string]bool
	said  []string
}

// look is how a tab is.
type look struct {
	width, height int64
	// scheme is light or dark.
	scheme string
	mobile bool
	// contrast: the reader wants more of it.
	contrast bool
}

var laptop = look{width: 1280, height: 800, scheme: "light"}

func open(t testing.TB, l look, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{TB: t, ctx: ctx, asked: map[string]bool{}}
	require.NoError(t, chromedp.Listen(ctx, b.hear))
	call(b, network.Enable, network.EnableParams{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.mobile})
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}
	if l.contrast {
		features = append(features, &emulation.MediaFeature{Name: "prefers-contrast", Value: "more"})
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	b.do(chromedp.Navigate(url))
	return b
}

// call sends one command of the protocol of the browser.
func call[P, R any](b *tab, command cdp.Command[P, R], parameters P) R {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	answer, err := chromedp.Call(ctx, command, parameters)
	require.NoError(b, err, command.Method)
	return answer
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			host, _, _ := strings.Cut(strings.TrimPrefix(e.Request.URL, "http://"), "/")
			b.asked[host] = true
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, exception(e.ExceptionDetails))
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError && e.Entry.Source != cdplog.EntrySourceNetwork {
			b.said = append(b.said, e.Entry.Text)
		}
	}
}

// clean fails the test when a script has failed or was refused, or when another host was asked.
func (b *tab) clean(s *site) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.said, "the console")
	require.Equal(b, map[string]bool{s.address: true}, b.asked, "hosts that were asked")
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b, chromedp.Do(ctx, steps...))
}

// js is the value of an expression.
func js[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b, err, expression)
	return value
}

// waits until an expression is true. What it asks may come with the next page, so that a failed look is repeated.
func (b *tab) waits(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if holds && err == nil {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-ctx.Done():
		}
		b.mu.Lock()
		said := b.said
		b.mu.Unlock()
		require.Fail(b, "the page does not come so far", "%s (%v)\nthe console: %q\nthe page:\n%s", expression, err,
			said, js[string](b, "document.body.innerText"))
	}
}

// shows waits until an element has a text, among others.
func (b *tab) shows(selector, text string) {
	b.Helper()
	b.waits(fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '').includes(%q)", selector, text))
}

// picks clicks on a stage of the graph.
func (b *tab) picks(stage string) {
	b.Helper()
	js[any](b, "document.querySelector('[data-stage="+stage+
		"]').dispatchEvent(new MouseEvent('click', { bubbles: true })), null")
}

// press presses a key as a command; a letter is not typed, as it is not when a page has taken it.
func (b *tab) press(key string) {
	b.Helper()
	if len(key) > 1 || key < " " {
		b.types(key)
		return
	}
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key})
	}
}

// types types keys into what has the focus.
func (b *tab) types(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }

func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return e.Text
}
