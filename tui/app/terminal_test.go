// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// patience bounds every wait for the screen; a machine under load is slow, not wrong.
const patience = time.Minute

// terminal is the UI in a real pseudo-terminal with an emulated screen.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	screen vt10x.Terminal
	before *term.State
	// clusters: see session.
	clusters bool

	mu sync.Mutex
	// changed is closed and replaced whenever the screen has changed.
	changed chan struct{}
	raw     bytes.Buffer

	done    chan struct{}
	outcome Outcome
	err     error
}

// session is how the UI is started.
type session struct {
	guide         *Guide
	notices       Notices
	client        func(context.Context) (deckv1.DeckServiceClient, error)
	width, height int
	seams         seams
	environ       []string
	keys          keymap.File
	saveDir       string
	manifests     Manifests
	// begin is Config.Start, command is Config.Command.
	begin   func(ctx context.Context) error
	command func(ctx context.Context, args []string) (out, said string, err error)
	// cards is the file of Files.Cards.
	cards string
	// clusters: the terminal counts the columns of grapheme clusters, not of code points.
	clusters bool
}

// play starts the UI.
func play(t *testing.T, client func(context.Context) (deckv1.DeckServiceClient, error), width, height int, seams seams,
	environ ...string) *terminal {
	t.Helper()
	o := session{client: client, width: width, height: height, seams: seams, environ: environ, saveDir: t.TempDir()}
	return o.start(t, context.Background())
}

// start runs the UI until ctx or the test ends.
func (o session) start(t *testing.T, ctx context.Context) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Cols: uint16(o.width), Rows: uint16(o.height)}))
	before, err := term.GetState(int(slave.Fd()))
	require.NoError(t, err)
	s := &terminal{
		t: t, master: master, slave: slave, before: before, changed: make(chan struct{}), done: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(o.width, o.height)), clusters: o.clusters,
	}
	stories.note(t)
	ctx, cancel := context.WithCancel(ctx)
	read := make(chan struct{})
	go func() { defer close(read); s.emulate() }()
	go func() {
		defer close(s.done)
		s.outcome, s.err = run(ctx, Config{
			Client: o.client, Name: "default", Version: "v0.1.0", Commander: "ada", Keys: o.keys,
			Manifests: o.manifests, Files: Files{Cards: o.cards, Saved: o.saveDir},
			Program: Program{o.command, o.begin},
			Guide:   o.guide, Notices: o.notices, Input: slave, Output: slave,
			Environ: append([]string{"TERM=xterm-256color"}, o.environ...),
		}, o.seams)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
		_ = slave.Close()
		<-read
		_ = master.Close()
	})
	return s
}

func dial(t *testing.T, server *decktest.Server) func(context.Context) (deckv1.DeckServiceClient, error) {
	client := server.Dial(t)
	return func(context.Context) (deckv1.DeckServiceClient, error) { return client, nil }
}

// emulate feeds what the UI writes to the screen until the terminal is closed.
func (s *terminal) emulate() {
	held := privateFilter{clusters: s.clusters}
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buffer)
		if n > 0 {
			s.mu.Lock()
			s.raw.Write(buffer[:n])
			_, _ = s.screen.Write(held.wide(held.whole(held.filter(buffer[:n]))))
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
			s.answer(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// answer says what the terminal can do: it shows whole frames, and may know grapheme clusters.
func (s *terminal) answer(written []byte) {
	for _, mode := range []ansi.Mode{ansi.ModeSynchronizedOutput, ansi.ModeUnicodeCore} {
		if bytes.Contains(written, []byte(ansi.RequestMode(mode))) && (mode != ansi.ModeUnicodeCore || s.clusters) {
			_, _ = s.master.WriteString(ansi.ReportMode(mode, ansi.ModeReset))
		}
	}
}

// sees waits until the screen satisfies the condition, which may read the screen further.
func (s *terminal) sees(what string, condition func(screen string) bool) {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		screen, changed := strings.ReplaceAll(s.screen.String(), wideFiller, ""), s.changed
		met := condition(screen)
		s.mu.Unlock()
		if met {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.t.Fatalf("never saw %s on:\n%s", what, screen)
		}
	}
}

func (s *terminal) seesText(texts ...string) {
	s.t.Helper()
	s.sees(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (s *terminal) losesText(text string) {
	s.t.Helper()
	s.sees("an end of "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// settled is the screen with everything on it that was typed so far; a wide character is followed by wideFiller. A pane
// has the keys.
func (s *terminal) settled() string {
	s.t.Helper()
	s.types("q") // whose dialog is cheaper to draw than the help
	s.seesText("keep it")
	s.types("s")
	s.losesText("keep it")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// isWhole checks that what was drawn piece by piece is what is drawn on an empty screen. The clock stands still.
func (s *terminal) isWhole() {
	s.t.Helper()
	before := s.settled()
	s.types("\x0c") // ctrl+l
	require.Equal(s.t, before, s.settled(), "drawn again")
}

func (s *terminal) types(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(s.t, err)
}

// signals is held by tests that resize, which signals every UI of this process, and shared by those that run an editor:
// Bubble Tea takes the terminal back without a lock.
var signals sync.RWMutex

// resize needs signals.
func (s *terminal) resize(width, height int) {
	s.t.Helper()
	s.mu.Lock()
	s.screen.Resize(width, height)
	s.mu.Unlock()
	require.NoError(s.t, pty.Setsize(s.master, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}))
	// The kernel signals only processes whose controlling terminal it is; that of a test is another.
	require.NoError(s.t, syscall.Kill(os.Getpid(), syscall.SIGWINCH))
}

// ends waits for the UI to end and checks that the terminal is as it was.
func (s *terminal) ends() (Outcome, error) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatal("the UI does not end")
	}
	after, err := term.GetState(int(s.slave.Fd()))
	require.NoError(s.t, err)
	require.Equal(s.t, s.before, after, "the modes of the terminal are restored")
	s.sees("the main screen with a cursor", func(string) bool {
		return s.screen.Mode()&vt10x.ModeAltScreen == 0 && s.screen.CursorVisible()
	})
	return s.outcome, s.err
}

// panicOn is a seam that panics inside the event loop when a key is pressed.
func panicOn(key string) seams {
	return seams{before: func(msg tea.Msg) {
		if press, ok := msg.(tea.KeyPressMsg); ok && press.String() == key {
			panic("broken on purpose")
		}
	}}
}
